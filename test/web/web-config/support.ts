import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request as requestPlain, type IncomingHttpHeaders } from "node:http";
import { request as requestTls, type RequestOptions } from "node:https";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { TLSSocket } from "node:tls";
import { onTestFinished } from "vitest";
import { formatConfigError } from "../../../src/config/errors.ts";
import type { ConfigError } from "../../../src/config/config.ts";
import { loadSecuredWeb } from "../../../src/web/secured-web.ts";
import { loadWebConfig } from "../../../src/web/web-config.ts";
import { routes } from "../support.ts";

/** Contents of text files by name. */
export type Files = Readonly<Record<string, string>>;

/** Contents of files by name. */
type Contents = Readonly<Record<string, string | Uint8Array>>;

/** The bcrypt hash of `correct horse` with the lowest cost, without its prefix. */
export const HASH = "04$hgEwj3dCmabonfMe97BMqe1sNnllCCDX.BeVT8.4eZePcrG2PxOOq";

export async function folderOf(files: Contents): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "web-config-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));
  return folder;
}

/** Loads a web configuration beside these files; errors as lines, without the folder. */
export async function load(yaml: string, files: Contents = {}) {
  const folder = await folderOf({ ...files, "web.yaml": yaml });
  const loaded = await loadWebConfig(join(folder, "web.yaml"));
  const sources = loaded.sources.map(({ path }) => basename(path)).toSorted();
  if (loaded.ok) return { config: loaded.config, errors: [], sources };
  return { errors: linesOf(loaded.errors, folder), sources };
}

function linesOf(errors: readonly ConfigError[], folder: string): readonly string[] {
  return errors.map((error) => formatConfigError(error).replaceAll(`${folder}/`, ""));
}

/** A server with the exporter's routes and a valid web configuration. */
export async function startSecured(yaml: string, files: Files = {}, handler = routes(), routePrefix = "") {
  const folder = await folderOf({ ...files, "web.yaml": yaml });
  const loaded = await loadSecuredWeb(join(folder, "web.yaml"));
  if (!loaded.ok) throw new Error(linesOf(loaded.errors, folder).join("\n"));
  const started = await loaded.web.start([{ host: "127.0.0.1", port: 0 }], handler, routePrefix);
  if (!started.ok) throw new Error(started.code);
  onTestFinished(() => started.server.stop());
  return {
    port: Number(started.server.addresses[0]?.split(":").at(-1)),
    stop: started.server.stop,
    write: (name: string, text: string) => writeFile(join(folder, name), text),
    /** Errors as lines. */
    reload: async (): Promise<readonly string[]> => {
      const prepared = await loaded.web.prepare();
      if (prepared.ok) prepared.apply();
      return prepared.ok ? [] : linesOf(prepared.errors, folder);
    },
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Question extends RequestOptions {
  readonly plain?: boolean;
  /** Called with the socket when the response starts. */
  readonly onSocket?: (socket: TLSSocket) => void;
}

/** Sends a request on a new connection; rejects if there is no response. */
export function get(
  port: number,
  path: string,
  { plain = false, onSocket, ...options }: Question,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = plain ? requestPlain : requestTls;
    const sent = request({ host: "127.0.0.1", port, path, agent: false, ...options }, (response) => {
      if (response.socket instanceof TLSSocket) onSocket?.(response.socket);
      let body = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
      response.on("error", reject);
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      );
    });
    sent.on("error", reject);
    sent.end();
  });
}
