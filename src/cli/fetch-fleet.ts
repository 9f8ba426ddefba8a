import { loadHttpClient, NO_SETTINGS } from "../config/http-client.ts";
import type { ConfigError } from "../config/config.ts";
import { createClients } from "../client/clients.ts";
import { fleetDocumentSchema, type FleetDocument } from "../status/schema.ts";
import type { Io } from "./io.ts";

const TIMEOUT_MS = 10_000;
/** Enough for 10,000 appliances. */
const BODY_LIMIT_BYTES = 64 * 1024 * 1024;

export type FleetResult =
  | { readonly ok: true; readonly document: FleetDocument }
  | { readonly ok: false; readonly reason: "config"; readonly errors: readonly ConfigError[] }
  | { readonly ok: false; readonly reason: "request"; readonly message: string };

/** Requests the fleet from an exporter; `httpConfigFile`: credentials and TLS settings. Never rejects. */
export async function fetchFleet(url: URL, httpConfigFile: string | undefined, io: Io): Promise<FleetResult> {
  const settings =
    httpConfigFile === undefined
      ? { ok: true as const, http: NO_SETTINGS }
      : await loadHttpClient(httpConfigFile);
  if (!settings.ok) return { ...settings, reason: "config" };
  const createClient = createClients(io, io.clock);
  const client = createClient({ baseUrl: url.href.replace(/\/+$/, ""), http: settings.http });
  const response = await client.get("/api/v1/fleet", TIMEOUT_MS, { bodyLimitBytes: BODY_LIMIT_BYTES });
  client.close();
  return response.ok ? readDocument(response.value.bytes) : failed(response.failure.message);
}

function readDocument(body: Uint8Array): FleetResult {
  const read = fleetDocumentSchema.safeParse(parseJson(Buffer.from(body).toString()));
  if (read.success) return { ok: true, document: read.data };
  const [issue] = read.error.issues;
  const where = issue?.path.join(".") || "the response";
  return failed(`the server is not an appliance-exporter: ${where}: ${issue?.message ?? ""}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function failed(message: string): FleetResult {
  return { ok: false, reason: "request", message };
}
