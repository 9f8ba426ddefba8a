import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { start, type Running } from "./process.ts";
import type { Sandbox } from "./sandbox.ts";

/** A website: an nginx of its own, which answers every request in the same way, on both protocols. */
export interface Website {
  readonly id: number;
  readonly name: string;
  readonly httpPort: number;
  readonly httpsPort: number;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Answers 503 from now on, or 200 again: to everybody, or to one address. */
  setMaintenance(isOn: boolean, address?: string): Promise<void>;
  /** Presents this one from now on: certificate and key, in one PEM text. */
  setCertificate(pem: string): Promise<void>;
  /** Connections are still taken, by the kernel; nobody answers. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
}

interface WebsiteOptions extends Pick<Website, "id" | "name"> {
  readonly namespace: string;
  readonly folder: string;
  readonly certificate: string;
}

/** A website that is not running yet. */
export function createWebsite(
  sandbox: Sandbox,
  { id, name, namespace, folder, certificate }: WebsiteOptions,
): Website {
  const ports = { httpPort: 8000 + id, httpsPort: 4430 + id };
  const base = join(folder, name);
  let running: Running | undefined;
  const setCertificate = (pem: string) => replace(`${base}.pem`, pem);
  return {
    id,
    name,
    ...ports,
    setCertificate,
    start: async () => {
      await setCertificate(certificate);
      await writeFile(`${base}.conf`, configOf(base, ports));
      const command = ["nginx", "-p", folder, "-c", `${base}.conf`, "-e", "stderr"];
      running = start(sandbox, command, { name, place: { namespace }, folder });
      await running.printed(/using the "epoll"/);
    },
    stop: async () => running?.end("SIGQUIT"),
    setMaintenance: (isOn, address = "") =>
      isOn ? writeFile(`${base}.503${address}`, "") : rm(`${base}.503${address}`),
    freeze: async () => running?.signal("SIGSTOP"),
    thaw: async () => running?.signal("SIGCONT"),
  };
}

async function replace(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

// One process, without workers, that none of them outlives it. It cannot reload; a certificate whose name holds a
// variable is read anew for each connection.
function configOf(base: string, { httpPort, httpsPort }: Pick<Website, "httpPort" | "httpsPort">): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return `daemon off;
master_process off;
pid ${base}.pid;
error_log stderr notice;
events {}
http {
  access_log off;
${temporary.map((kind) => `  ${kind}_temp_path ${base}-${kind};`).join("\n")}
  map $remote_addr $certificate {
    default ${base}.pem;
  }
  server {
    listen ${httpPort};
    listen ${httpsPort} ssl;
    ssl_certificate $certificate;
    ssl_certificate_key $certificate;
    if (-f ${base}.503) {
      return 503;
    }
    if (-f ${base}.503$remote_addr) {
      return 503;
    }
    return 200;
  }
}
`;
}
