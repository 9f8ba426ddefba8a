import { summaryOf } from "../status/document.ts";
import type { FleetDocument } from "../status/schema.ts";
import { fetchFleet, isSelected } from "./fetch-fleet.ts";
import { fleetReport } from "./fleet-report.ts";
import type { ExitCode, Flags, Io } from "./command.ts";
import { toJson } from "./format.ts";

const EXIT_CODES: Readonly<Record<FleetDocument["verdict"], ExitCode>> = { well: 0, wrong: 1, unknown: 2 };

/**
 * Shows the fleet as an exporter sees it, or the clusters that `names` selects. Exit code 0: these have no problems, 1: they
 * have, 2: unknown.
 */
export async function status(flags: Flags, io: Io, names: readonly string[]): Promise<ExitCode> {
  const { failed: isFailedOnly = false, output } = flags;
  const fleet = await fetchFleet(flags, io, names);
  if (typeof fleet === "number") return fleet;
  const document = names.length === 0 ? fleet : partOf(fleet, names);
  const { wallMs } = io.clock;
  io.out(output === "json" ? toJson(document) : fleetReport(document, io.hasColor, wallMs(), isFailedOnly));
  return EXIT_CODES[document.verdict];
}

/** Returns the selected clusters, their problems and incidents, and the verdict on them. */
function partOf(fleet: FleetDocument, names: readonly string[]): FleetDocument {
  const clusters = fleet.clusters.filter((cluster) => isSelected(cluster, names));
  const selected = new Set<unknown>(clusters.map(({ name }) => name));
  const problems = fleet.problems.filter(({ cluster }) => selected.has(cluster));
  const incidents = fleet.incidents.filter(({ cluster }) => selected.has(cluster));
  return { ...fleet, verdict: summaryOf(problems, true), problems, clusters, incidents };
}
