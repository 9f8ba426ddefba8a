import { summaryOf } from "../exporter/document/document.ts";
import type { FleetDocument } from "../exporter/document/schema.ts";
import { fetchFleet, isSelected } from "./fetch-fleet.ts";
import { fleetReport } from "./fleet-report.ts";
import type { ExitCode, Flags, Io } from "../exporter/command/command.ts";
import { toJson } from "../exporter/command/format.ts";
import { nagiosFailure, nagiosReport } from "./nagios-report.ts";

export type StatusFlags = Omit<Flags, "output"> & {
  readonly output: Flags["output"] | "nagios";
  readonly all?: boolean;
};

const EXIT_CODES: Readonly<Record<FleetDocument["verdict"], ExitCode>> = { well: 0, wrong: 1, unknown: 2 };

/**
 * Shows the fleet as an exporter sees it, or the clusters that `names` selects. Returns 0 if these have no problems, 1 if they have, and 2
 * if that is unknown; with `--output=nagios`, the exit code of a plugin.
 */
export async function status(flags: StatusFlags, io: Io, names: readonly string[]): Promise<ExitCode> {
  const { failed, all, output } = flags;
  if (output === "nagios") return nagiosStatus({ ...flags, output: "table" }, io, names);
  const fleet = await fetchFleet({ ...flags, output }, io, names);
  if (typeof fleet === "number") return fleet;
  const document = partOf(fleet, names);
  const { wallMs } = io.clock;
  const shows = all === true ? "all" : failed === true ? "failed" : undefined;
  const view = { hasColor: io.hasColor, nowMs: wallMs(), columns: io.columns, shows } as const;
  io.out(output === "json" ? toJson(document) : fleetReport(document, view));
  return EXIT_CODES[document.verdict];
}

/** Writes the result of a plugin, which also reports errors. */
async function nagiosStatus(flags: Flags, io: Io, names: readonly string[]): Promise<ExitCode> {
  const errors: string[] = [];
  const fleet = await fetchFleet(flags, { ...io, err: (text) => void errors.push(text) }, names);
  const { text, exitCode } =
    typeof fleet === "number" ? nagiosFailure(errors.join(" ")) : nagiosReport(partOf(fleet, names));
  io.out(text);
  return exitCode;
}

/** Returns the selected clusters, their problems and incidents, and the verdict on them; without names, all clusters. */
function partOf(fleet: FleetDocument, names: readonly string[]): FleetDocument {
  if (names.length === 0) return fleet;
  const clusters = fleet.clusters.filter((cluster) => isSelected(cluster, names));
  const selected = new Set<unknown>(clusters.map(({ name }) => name));
  const problems = fleet.problems.filter(({ cluster }) => selected.has(cluster));
  const incidents = fleet.incidents.filter(({ cluster }) => selected.has(cluster));
  return { ...fleet, verdict: summaryOf(problems, true), problems, clusters, incidents };
}
