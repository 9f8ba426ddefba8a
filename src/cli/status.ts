import { formatConfigError } from "../config/errors.ts";
import type { FleetDocument } from "../status/schema.ts";
import { askForFleet } from "./fleet-answer.ts";
import { fleetReport } from "./fleet-report.ts";
import type { ExitCode, Io } from "./io.ts";
import { toJson } from "./report.ts";

export interface StatusOptions {
  /** Of an exporter, with its route prefix. */
  readonly url: string;
  readonly httpConfigFile: string | undefined;
  readonly output: "table" | "json";
}

const EXIT_CODES: Readonly<Record<FleetDocument["verdict"], ExitCode>> = { well: 0, wrong: 1, unknown: 2 };

/** Shows the fleet as an exporter sees it. Exit code: 0 all is well, 1 something is wrong, 2 cannot tell. */
export async function status(options: StatusOptions, io: Io): Promise<ExitCode> {
  const { httpConfigFile, output } = options;
  const url = parseUrl(options.url);
  if (url === undefined) {
    io.err(
      "error: option '--url <url>': expected an http:// or https:// URL without credentials, query and fragment; " +
        "credentials go into --http.config.file\n",
    );
    return 2;
  }
  const answer = await askForFleet(url, httpConfigFile, io);
  if (!answer.ok) {
    const lines =
      answer.reason === "config" ? answer.errors.map(formatConfigError) : [`${url.href}: ${answer.message}`];
    io.err(lines.map((line) => `${line}\n`).join(""));
    return 2;
  }
  const { document } = answer;
  io.out(output === "json" ? toJson(document) : fleetReport(document, io.hasColour));
  return EXIT_CODES[document.verdict];
}

/** Credentials do not belong on a command line, where everybody on the machine can read them; nothing repeats them. */
function parseUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.username === "" && url.password === "" && url.search === "" && url.hash === "";
  return isPlain && /^https?:$/.test(url.protocol) ? url : undefined;
}
