import { summaryOf } from "../status/document.ts";
import type { FleetDocument } from "../status/schema.ts";
import { fetchFleet, isSelected } from "./fetch-fleet.ts";
import { fleetReport } from "./fleet-report.ts";
import type { ExitCode, Flags, Io } from "./command.ts";
import { toJson } from "./format.ts";
import { nagiosFailure, nagiosReport } from "./nagios-report.ts";

export type StatusFlags = Omit<Flags, "output"> & { readonly output: Flags["output"] | "nagios" };

const EXIT_CODES: Readonly<Record<FleetDocument["verdict"], ExitCode>> = { well: 0, wrong: 1, unknown: 2 };

/**
 * Shows the fleet as an exporter sees it, or the clusters that `names` selects. Exit code 0: these have no problems, 1: they
 * have, 2: unknown; `--output=nagios`: those of a plugin.
 */
export async function status(flags: StatusFlags, io: Io, names: readonly string[]): Promise<ExitCode> {
  const { failed: isFailedOnly = false, output } = flags;
  if (output === "nagios") return nagiosStatus({ ...flags, output: "table" }, io, names);
  const fleet = await fetchFleet({ ...flags, output }, io, names);
  if (typeof fleet === "number") return fleet;
  const document = partOf(fleet, names);
  const { wallMs } = io.clock;
  io.out(output === "json" ? toJson(document) : fleetReport(document, io.hasColor, wallMs(), isFailedOnly));
  return EXIT_CODES[document.verdict];
}

/** Errors are part of the result of a plugin. */
async function nagiosStatus(flags: Flags, io: Io, names: readonly string[]): Promise<ExitCode> {
  const errors: string[] = [];
  const fleet = await fetchFleet(flags, { ...io, err: (text) => void errors.push(text) }, names);
  const { text, exitCode } =
    typeof fleet === "number" ? nagiosFailure(errors.join(" ")) : nagiosReport(partOf(fleet, names));
  io.out(text);
  return exitCode;
}

/** Returns the selected clusters, their problems and incidents, and the verdict on them; without names, all. */
function partOf(fleet: FleetDocument, names: readonly string[]): FleetDocument {
  if (names.length === 0) return fleet;
  const clusters = fleet.clusters.filter((cluster) => isSelected(cluster, names));
  const selected = new Set<unknown>(clusters.map(({ name }) => name));
  const problems = fleet.problems.filter(({ cluster }) => selected.has(cluster));
  const incidents = fleet.incidents.filter(({ cluster }) => selected.has(cluster));
  return { ...fleet, verdict: summaryOf(problems, true), problems, clusters, incidents };
}
