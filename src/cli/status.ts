import type { HttpClientConfig } from "../config/config.ts";
import { loadHttpClient, NO_SETTINGS } from "../config/http-client.ts";
import { createClients } from "../client/client.ts";
import { fleetDocumentSchema, type FleetDocument } from "../status/schema.ts";
import { fleetReport } from "./fleet-report.ts";
import { fail, printErrors, type ExitCode, type Flags, type Io } from "./command.ts";
import { toJson } from "./format.ts";

const TIMEOUT_MS = 10_000;
/** Enough for 10,000 appliances. */
const BODY_LIMIT_BYTES = 64 * 1024 * 1024;
const INVALID_URL =
  "error: option '--url <url>': expected an http:// or https:// URL without credentials, query and fragment; " +
  "put credentials into --http.config.file";
const EXIT_CODES: Readonly<Record<FleetDocument["verdict"], ExitCode>> = { well: 0, wrong: 1, unknown: 2 };

/** Shows the fleet as an exporter sees it. Exit code 0: no problems, 1: problems, 2: unknown. */
export async function status(flags: Flags, io: Io): Promise<ExitCode> {
  const { "http.config.file": file, output } = flags;
  const url = parseUrl(flags.url);
  if (url === undefined) return fail(io, INVALID_URL, 2);
  const settings = file === undefined ? { ok: true as const, http: NO_SETTINGS } : await loadHttpClient(file);
  if (!settings.ok) {
    printErrors(settings.errors, io, output);
    return 2;
  }
  const document = await fetchFleet(url, settings.http, io);
  if (typeof document === "string") return fail(io, `${url.href}: ${document}`, 2);
  io.out(output === "json" ? toJson(document) : fleetReport(document, io.hasColor, io.clock.wallMs()));
  return EXIT_CODES[document.verdict];
}

/** Rejects credentials, because other users of the machine can read command lines. */
function parseUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.username === "" && url.password === "" && url.search === "" && url.hash === "";
  return isPlain && /^https?:$/.test(url.protocol) ? url : undefined;
}

/** The document, or why there is none. */
async function fetchFleet(url: URL, http: HttpClientConfig, io: Io): Promise<FleetDocument | string> {
  const client = createClients(io, io.clock)({ baseUrl: url.href.replace(/\/+$/, ""), http });
  const response = await client.get("/api/v1/fleet", TIMEOUT_MS, { bodyLimitBytes: BODY_LIMIT_BYTES });
  client.close();
  if (!response.ok) return response.failure.message;
  try {
    return fleetDocumentSchema.parse(JSON.parse(Buffer.from(response.value.bytes).toString()));
  } catch {
    return "the server is not an appliance-exporter of this version";
  }
}
