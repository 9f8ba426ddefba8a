import type { z } from "zod";
import { windowsSchema, type WindowsDocument } from "../exporter/maintenance/request.ts";
import { loadHttpClient, NO_SETTINGS } from "../exporter/config/http-client.ts";
import { createClients, type Body } from "../exporter/client/client.ts";
import type { Outcome } from "../exporter/api/failure.ts";
import {
  fleetDocumentSchema,
  type ClusterDocument,
  type FleetDocument,
} from "../exporter/document/schema.ts";
import { listedBriefly, printable } from "../support/text.ts";
import { localUser } from "../exporter/maintenance/local-user.ts";
import { STATED_USER } from "../exporter/web/admin-socket.ts";
import { statedUser, addressOf } from "./exporter-address.ts";
import { fail, printErrors, type ExitCode, type Flags, type Io } from "../exporter/command/command.ts";
import { adviceOnExporter } from "./exporter-advice.ts";

const TIMEOUT_MS = 10_000;
/** This size is enough for 10,000 appliances. */
const BODY_LIMIT_BYTES = 64 * 1024 * 1024;
export const MAINTENANCE = "/api/v1/maintenance";
export const NO_EXPORTER = "the server is not an appliance-exporter of this version";
const INVALID_URL =
  "error: option '--url <url>': expected an http:// or https:// URL with a host (IPv6 in brackets), without credentials, query and fragment, or unix:FILE; " +
  "put credentials into --http.config.file";

const NO_PASSWORD = "error: a unix: URL needs no password: leave --http.config.file out";

/** A running exporter. If a request fails, the reason is a sentence with its URL. */
export interface RunningExporter {
  readonly url: string;
  /** The user name of the requests; `undefined` without a password. */
  readonly user: string | undefined;
  fleet(): Promise<Answered<FleetDocument>>;
  /** Returns the planned work of the fleet, and that which comes. */
  windows(): Promise<Answered<WindowsDocument>>;
  /** Makes a POST of a value as JSON, within `timeoutMs`. */
  post(path: string, value: unknown, timeoutMs: number): Promise<Answered<Uint8Array>>;
  close(): void;
}

type Answered<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly message: string };

/** Prepares requests to an exporter. After an error of the flags, which it prints, this function returns the exit code 2. */
export async function openExporter(
  flags: Pick<Flags, "url" | "http.config.file" | "output">,
  io: Io,
): Promise<RunningExporter | ExitCode> {
  const { "http.config.file": file, output } = flags;
  const address = await addressOf(flags, io);
  if (address === undefined) return fail(io, INVALID_URL, 2);
  const { socketPath, shown: url } = address;
  if (socketPath !== undefined && file !== undefined) return fail(io, NO_PASSWORD, 2);
  const settings = file === undefined ? { ok: true as const, http: NO_SETTINGS } : await loadHttpClient(file);
  if (!settings.ok) {
    printErrors(settings.errors, io, output);
    return 2;
  }
  const stated = statedUser(io);
  const headers = socketPath === undefined ? {} : { [STATED_USER]: stated };
  const client = createClients(
    { ...io, headers },
    io.clock,
  )({
    baseUrl: address.url.href.replace(/\/+$/, ""),
    socketPath,
    http: settings.http,
  });
  const answered = (response: Outcome<Body>): Answered<Uint8Array> => {
    if (response.ok) return { ok: true, value: response.value.bytes };
    const advice = adviceOnExporter(response.failure, { address, file });
    const why = [response.failure.message, ...(advice === undefined ? [] : [advice])];
    return { ok: false, message: printable(`${url}: ${why.join(". ")}`) };
  };
  return {
    url,
    user: socketPath === undefined ? settings.http.basicAuth?.username : localUser(stated),
    fleet: async () => {
      const limit = { bodyLimitBytes: BODY_LIMIT_BYTES };
      const response = answered(await client.get("/api/v1/fleet", TIMEOUT_MS, limit));
      if (!response.ok) return response;
      const value = parseAs(fleetDocumentSchema, response.value);
      return value === undefined ? { ok: false, message: `${url}: ${NO_EXPORTER}` } : { ok: true, value };
    },
    windows: async () => {
      const response = answered(await client.get(MAINTENANCE, TIMEOUT_MS));
      if (!response.ok) return response;
      const value = parseAs(windowsSchema, response.value);
      return value === undefined ? { ok: false, message: `${url}: ${NO_EXPORTER}` } : { ok: true, value };
    },
    post: async (path, value, timeoutMs) =>
      answered(await client.post(path, JSON.stringify(value), timeoutMs)),
    close: client.close,
  };
}

/**
 * Fetches the document of an exporter, which must know all `names` of clusters or appliances. After an error, which it prints, this
 * function returns the exit code 2.
 */
export async function fetchFleet(
  flags: Pick<Flags, "url" | "http.config.file" | "output">,
  io: Io,
  names: readonly string[],
): Promise<FleetDocument | ExitCode> {
  const exporter = await openExporter(flags, io);
  if (typeof exporter === "number") return exporter;
  const answer = await exporter.fleet();
  exporter.close();
  return answer.ok ? withNames(answer.value, names, exporter.url, io) : fail(io, answer.message, 2);
}

/**
 * Returns the document, if it has all `names` of clusters or appliances. After an error, which it prints, this function returns the exit
 * code 2.
 */
export function withNames(
  fleet: FleetDocument,
  names: readonly string[],
  url: string,
  io: Io,
): FleetDocument | ExitCode {
  const unknown = names.find((name) => !fleet.clusters.some((cluster) => isSelected(cluster, [name])));
  if (unknown === undefined) return fleet;
  const known = new Set(fleet.clusters.flatMap(({ name, appliances }) => [name, ...namesOf(appliances)]));
  const has = `${url} has ${listedBriefly([...known])}`;
  return fail(io, `unknown cluster or appliance ${JSON.stringify(unknown)}; ${has}`, 2);
}

/** Whether a name is the name of the cluster or of one of its appliances. */
export function isSelected({ name, appliances }: ClusterDocument, names: readonly string[]): boolean {
  return [name, ...namesOf(appliances)].some((each) => names.includes(each));
}

function namesOf(appliances: ClusterDocument["appliances"]): readonly string[] {
  return appliances.map(({ name }) => name);
}

/** Parses JSON of this form; returns `undefined` for any other bytes. */
export function parseAs<T>(schema: z.ZodType<T>, bytes: Uint8Array): T | undefined {
  try {
    return schema.parse(JSON.parse(Buffer.from(bytes).toString()));
  } catch {
    return undefined;
  }
}
