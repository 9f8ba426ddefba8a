import { createFleet } from "../exporter/fleet/fleet.ts";
import { occurrencesAt } from "../exporter/maintenance/windows.ts";
import { clusterDocument } from "../exporter/document/document.ts";
import { judge } from "../exporter/judge/judge.ts";
import type { ClusterDocument, ReadinessDocument } from "../exporter/document/schema.ts";
import { keysOf } from "../support/keys.ts";
import { count, listedBriefly } from "../support/text.ts";
import { relativeTime } from "../exporter/view/time.ts";
import { answersOf, verdictOn, type ReadyAnswer } from "./answers.ts";
import { fail, loadNamed, type ExitCode, type Flags, type Io } from "../exporter/command/command.ts";
import { fetchFleet } from "./fetch-fleet.ts";
import { formatCell, formatRows, toJson, type Color } from "../exporter/command/format.ts";
import { pollAll } from "../exporter/command/poll-once.ts";
import type { PolledAppliance } from "../exporter/command/poll-report.ts";

/** With `config.file`, the command polls the clusters of that file instead of requesting the state from an exporter. */
export interface ReadyFlags extends Omit<Flags, "config.file">, Partial<Pick<Flags, "config.file">> {
  readonly within?: readonly string[];
}

const EXIT_CODES: Readonly<Record<ReadyAnswer["verdict"], ExitCode>> = { ready: 0, not_ready: 1, unknown: 2 };

/**
 * Shows what would be lost if the appliances that `names` selects stopped now. Returns 0 for nothing, 1 for something, 2 if that is not
 * known, or after an error.
 */
export async function ready(flags: ReadyFlags, io: Io, names: readonly string[]): Promise<ExitCode> {
  const { "config.file": file } = flags;
  const clusters =
    file === undefined
      ? await fetchClusters(flags, io, names)
      : await pollClusters({ ...flags, "config.file": file }, io, names);
  if (clusters === undefined) return 2;
  const answers = answersOf(clusters, names, flags.within);
  if (answers.length === 0) return fail(io, "no cluster has several appliances: none can take over", 2);
  const verdict = verdictOn(answers);
  io.out(flags.output === "json" ? toJson({ verdict, answers }) : report(answers, io));
  return EXIT_CODES[verdict];
}

type Clusters = readonly ClusterDocument[] | undefined;

/** Fetches the clusters from an exporter; returns `undefined` after an error, which it prints. */
async function fetchClusters(flags: ReadyFlags, io: Io, names: readonly string[]): Promise<Clusters> {
  const fleet = await fetchFleet(flags, io, names);
  return typeof fleet === "number" ? undefined : fleet.clusters;
}

/**
 * Polls all enabled members of the clusters that `names` selects. It polls their VRRP lists again in the end, since many tests may take
 * minutes. Returns `undefined` after an error, which it prints.
 */
async function pollClusters(flags: Flags, io: Io, names: readonly string[]): Promise<Clusters> {
  const loaded = await loadNamed(flags, io, names);
  if (typeof loaded === "number") return undefined;
  const selected = new Set(loaded.named.map(({ cluster }) => cluster));
  const appliances = loaded.appliances.filter(({ cluster }) => selected.has(cluster));
  const enabled = appliances.filter((appliance) => appliance.enabled);
  const fleet = createFleet();
  const record = (polled: readonly PolledAppliance[]): void => {
    const nowMs = io.clock.monotonicMs();
    for (const { observation } of polled.flatMap(({ results }) => results)) fleet.record(observation, nowMs);
  };
  const first = await pollAll(enabled, io);
  fleet.configure({ appliances }, io.clock.monotonicMs());
  record(first);
  record(await pollAll(enabled, io, { kinds: ["vrrp"] }));
  const at = { wallMs: io.clock.wallMs(), monotonicMs: io.clock.monotonicMs() };
  const windows = occurrencesAt(loaded.maintenance, at.wallMs);
  return fleet.clusters().flatMap((name) => {
    const facts = fleet.cluster(name, at.monotonicMs);
    const verdict = facts && judge(facts, undefined, at, { windows });
    return verdict === undefined ? [] : clusterDocument(verdict, { verdict, nextPollAtMs: () => undefined });
  });
}

const COLORS: Readonly<Record<ReadyAnswer["verdict"], Color>> = {
  ready: "green",
  not_ready: "red",
  unknown: "yellow",
};

/** Writes a sentence for each answer, and below it what may be lost; the last line counts the answers. */
function report(answers: readonly ReadyAnswer[], { hasColor, clock }: Io): string {
  const nowMs = clock.wallMs();
  const parts = answers.map(({ verdict, summary, failover }) => {
    const sentence = formatCell({ text: summary, color: COLORS[verdict] }, hasColor);
    return `${sentence}\n${failover === undefined ? "" : riskLines(failover, nowMs)}`;
  });
  const clusters = answers.filter(({ appliance }) => appliance === undefined);
  const appliances = answers.filter(({ appliance }) => appliance !== undefined);
  const counts =
    clusters.length === 0
      ? [countsOf(appliances)]
      : [`appliances ${countsOf(appliances)}`, `clusters ${countsOf(clusters)}`];
  return `${parts.join("")}\n${counts.join("\n")}\n`;
}

/** Returns `ready: 2, not ready: 1 (a), unknown: 0`. */
function countsOf(answers: readonly ReadyAnswer[]): string {
  const counts = keysOf(COLORS).map((verdict) => {
    const those = answers.filter((answer) => answer.verdict === verdict);
    const names = those.map(({ appliance, cluster }) => appliance ?? cluster);
    const which = verdict === "ready" || names.length === 0 ? "" : ` (${listedBriefly(names)})`;
    return `${verdict.replace("_", " ")}: ${names.length}${which}`;
  });
  return counts.join(", ");
}

/** Returns lines about the risks that are not harmless, with the age of the answers behind them, and about omitted risks. */
function riskLines({ risks, moreRisks = 0, leftOut = 0 }: ReadinessDocument, nowMs: number): string {
  const harmful = risks.filter(({ effect }) => effect !== "none");
  const rows = harmful.map(({ effect, summary, seenAt }) => {
    const age =
      seenAt === undefined ? "not seen yet" : `seen ${relativeTime("ago", Date.parse(seenAt), nowMs)}`;
    return ["", effect, summary, age];
  });
  // Risks are worst first. If a harmless one is shown, all that are left out are harmless; those of windows are always shown.
  const isComplete = risks.some(({ effect, risk }) => effect === "none" && risk !== "planned_elsewhere");
  const more = isComplete ? 0 : moreRisks;
  const remarks = [
    ...(more === 0 ? [] : [count(more, "more risk")]),
    ...(leftOut === 0 ? [] : [`${count(leftOut, "website")} excluded: not compared`]),
  ];
  return [formatRows(rows), ...remarks.map((remark) => `  ${remark}\n`)].join("");
}
