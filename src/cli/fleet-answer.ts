import { loadHttpClient, NO_SETTINGS } from "../config/http-client.ts";
import type { ConfigError } from "../config/config.ts";
import { createClients } from "../client/clients.ts";
import { fleetDocumentSchema, type FleetDocument } from "../status/schema.ts";
import type { Io } from "./io.ts";

const TIMEOUT_MS = 10_000;
/** What 10,000 appliances need. */
const BODY_LIMIT_BYTES = 64 * 1024 * 1024;

export type FleetAnswer =
  | { readonly ok: true; readonly document: FleetDocument }
  | { readonly ok: false; readonly reason: "config"; readonly errors: readonly ConfigError[] }
  | { readonly ok: false; readonly reason: "unanswered"; readonly message: string };

/** Asks an exporter for its fleet; `httpConfigFile`: credentials and TLS settings, where it wants some. Never rejects. */
export async function askForFleet(
  url: URL,
  httpConfigFile: string | undefined,
  io: Io,
): Promise<FleetAnswer> {
  const settings =
    httpConfigFile === undefined
      ? { ok: true as const, http: NO_SETTINGS }
      : await loadHttpClient(httpConfigFile);
  if (!settings.ok) return { ...settings, reason: "config" };
  const createClient = createClients(io, io.clock);
  const client = createClient({ baseUrl: url.href.replace(/\/+$/, ""), http: settings.http });
  const answer = await client.get("/api/v1/fleet", TIMEOUT_MS, { bodyLimitBytes: BODY_LIMIT_BYTES });
  client.close();
  return answer.ok ? readDocument(answer.value.bytes) : unanswered(answer.failure.message);
}

function readDocument(body: Uint8Array): FleetAnswer {
  const read = fleetDocumentSchema.safeParse(parseJson(Buffer.from(body).toString()));
  if (read.success) return { ok: true, document: read.data };
  const [issue] = read.error.issues;
  const where = issue?.path.join(".") || "the answer";
  return unanswered(`what answers is no exporter of this kind: ${where}: ${issue?.message ?? ""}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unanswered(message: string): FleetAnswer {
  return { ok: false, reason: "unanswered", message };
}
