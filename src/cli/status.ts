import { formatConfigError } from "../config/errors.ts";
import type { FleetDocument } from "../status/schema.ts";
import { fetchFleet } from "./fetch-fleet.ts";
import { fleetReport } from "./fleet-report.ts";
import type { ExitCode, Io } from "./io.ts";
import { toJson } from "./report.ts";

export interface StatusOptions {
  /** The URL of an exporter, with its route prefix. */
  readonly url: string;
  readonly httpConfigFile: string | undefined;
  readonly output: "table" | "json";
}

const EXIT_CODES: Readonly<Record<FleetDocument["verdict"], ExitCode>> = { well: 0, wrong: 1, unknown: 2 };

/** Shows the fleet as an exporter sees it. Exit code 0: no problems, 1: problems, 2: unknown. */
export async function status(options: StatusOptions, io: Io): Promise<ExitCode> {
  const { httpConfigFile, output } = options;
  const url = parseUrl(options.url);
  if (url === undefined) {
    io.err(
      "error: option '--url <url>': expected an http:// or https:// URL without credentials, query and fragment; " +
        "put credentials into --http.config.file\n",
    );
    return 2;
  }
  const result = await fetchFleet(url, httpConfigFile, io);
  if (!result.ok) {
    const lines =
      result.reason === "config" ? result.errors.map(formatConfigError) : [`${url.href}: ${result.message}`];
    io.err(lines.map((line) => `${line}\n`).join(""));
    return 2;
  }
  const { document } = result;
  io.out(output === "json" ? toJson(document) : fleetReport(document, io.hasColor));
  return EXIT_CODES[document.verdict];
}

/** Rejects credentials, because other users of the machine can read command lines. */
function parseUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.username === "" && url.password === "" && url.search === "" && url.hash === "";
  return isPlain && /^https?:$/.test(url.protocol) ? url : undefined;
}
