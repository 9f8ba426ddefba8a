import type { HttpClientConfig } from "../config/config.ts";
import { loadHttpClient, NO_SETTINGS } from "../config/http-client.ts";
import { createClients } from "../client/client.ts";
import { summaryOf } from "../status/document.ts";
import { fleetDocumentSchema, type ClusterDocument, type FleetDocument } from "../status/schema.ts";
import { listedBriefly } from "../support/text.ts";
import { fleetReport } from "./fleet-report.ts";
import { schemeAdvice } from "./report.ts";
import { fail, printErrors, type ExitCode, type Flags, type Io } from "./command.ts";
import { toJson } from "./format.ts";

const TIMEOUT_MS = 10_000;
/** This is enough for 10,000 appliances. */
const BODY_LIMIT_BYTES = 64 * 1024 * 1024;
const INVALID_URL =
  "error: option '--url <url>': expected an http:// or https:// URL with a host (IPv6 in brackets), without credentials, query and fragment; " +
  "put credentials into --http.config.file";
const EXIT_CODES: Readonly<Record<FleetDocument["verdict"], ExitCode>> = { well: 0, wrong: 1, unknown: 2 };

/**
 * Shows the fleet as an exporter sees it, or the clusters that `names` selects. Exit code 0: these have no problems, 1: they
 * have, 2: unknown.
 */
export async function status(flags: Flags, io: Io, names: readonly string[]): Promise<ExitCode> {
  const { "http.config.file": file, failed: isFailedOnly = false, output } = flags;
  const url = parseUrl(flags.url);
  if (url === undefined) return fail(io, INVALID_URL, 2);
  const settings = file === undefined ? { ok: true as const, http: NO_SETTINGS } : await loadHttpClient(file);
  if (!settings.ok) {
    printErrors(settings.errors, io, output);
    return 2;
  }
  const fleet = await fetchFleet(url, settings.http, io);
  if (typeof fleet === "string") return fail(io, `${url.href}: ${fleet}`, 2);
  const unknown = names.find((name) => !fleet.clusters.some((cluster) => isSelected(cluster, [name])));
  if (unknown !== undefined) {
    const known = listedBriefly(fleet.clusters.map(({ name }) => name));
    return fail(io, `unknown cluster ${JSON.stringify(unknown)}; ${url.href} has ${known}`, 2);
  }
  const document = names.length === 0 ? fleet : partOf(fleet, names);
  const { wallMs } = io.clock;
  io.out(output === "json" ? toJson(document) : fleetReport(document, io.hasColor, wallMs(), isFailedOnly));
  return EXIT_CODES[document.verdict];
}

/** Whether a name is that of the cluster or of one of its appliances. */
function isSelected({ name, appliances }: ClusterDocument, names: readonly string[]): boolean {
  return names.includes(name) || appliances.some((appliance) => names.includes(appliance.name));
}

/** Returns the selected clusters, their problems and events, and the verdict on them. */
function partOf(fleet: FleetDocument, names: readonly string[]): FleetDocument {
  const clusters = fleet.clusters.filter((cluster) => isSelected(cluster, names));
  const selected = new Set<unknown>(clusters.map(({ name }) => name));
  const problems = fleet.problems.filter(({ cluster }) => selected.has(cluster));
  const events = fleet.events.filter(({ cluster }) => selected.has(cluster));
  return { ...fleet, verdict: summaryOf(problems, true), problems, clusters, events };
}

/** Rejects credentials, because other users of the machine can read command lines. */
function parseUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.username === "" && url.password === "" && url.search === "" && url.hash === "";
  return isPlain && /^https?:$/.test(url.protocol) ? url : undefined;
}

/** Fetches the document; a text says why there is none. */
async function fetchFleet(url: URL, http: HttpClientConfig, io: Io): Promise<FleetDocument | string> {
  const client = createClients(io, io.clock)({ baseUrl: url.href.replace(/\/+$/, ""), http });
  const response = await client.get("/api/v1/fleet", TIMEOUT_MS, { bodyLimitBytes: BODY_LIMIT_BYTES });
  client.close();
  if (!response.ok) {
    const advice = url.protocol === "http:" ? schemeAdvice(response.failure) : undefined;
    return [response.failure.message, ...(advice === undefined ? [] : [advice])].join(". ");
  }
  try {
    return fleetDocumentSchema.parse(JSON.parse(Buffer.from(response.value.bytes).toString()));
  } catch {
    return "the server is not an appliance-exporter of this version";
  }
}
