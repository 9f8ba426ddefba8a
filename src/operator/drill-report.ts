import { instantOf } from "../exporter/judge/words.ts";
import { HASTENED_MS } from "../exporter/polling/hastened.ts";
import { listed, printable } from "../support/text.ts";
import { absoluteTime } from "../exporter/view/time.ts";
import { toJson } from "../exporter/command/format.ts";
import {
  incidentsIn,
  outagesIn,
  outageWords,
  timeWords,
  verdictOn,
  type Course,
  type Drill,
  type Ending,
  type DrillStage,
} from "./drill-course.ts";

/** The facts of a report besides the course of the drill. Instants are in Unix time. */
export interface DrillFacts {
  readonly course: Course;
  readonly ending: Ending;
  readonly window: {
    readonly id: string;
    readonly comment: string;
    readonly by: string | undefined;
  };
  readonly exporter: { readonly url: string; readonly version: string };
  /** The version of the command. */
  readonly version: string;
  /** The time between two looks at the exporter. */
  readonly lookMs: number;
  /** The beginning of the window by both clocks; `undefined` if the exporter never showed it. */
  readonly clocks: Clocks | undefined;
  /** Says in sentences what the command did itself. */
  readonly acts: readonly { readonly atMs: number; readonly text: string }[];
}

interface Clocks {
  /** The clock of the command when it asked for the window, and when the exporter had answered. */
  readonly askedMs: number;
  readonly answeredMs: number;
  /** The clock of the exporter in between. */
  readonly exporterMs: number;
}

/** Says what is true when a stage was reached. */
export const REACHED: Readonly<Record<DrillStage, (drill: Drill) => string>> = {
  taken_over: ({ appliance }) =>
    `Another appliance is the known MASTER of every group that ${appliance} had.`,
  complete: ({ cluster }) => `${cluster} is complete: each group has one MASTER and a known BACKUP.`,
  back: ({ appliance }) => `${appliance} is MASTER again of every group that it had, with a known BACKUP.`,
};

/** Returns the report of a drill as data, which is also its JSON. */
export function drillReport(facts: DrillFacts) {
  const { course, ending, window, exporter, version, lookMs, clocks, acts } = facts;
  const { drill, reached, watched, bare, failovers } = course;
  const { appliance, cluster, readiness } = drill;
  const stages = reached.map(({ stage, atMs }) => ({ atMs, text: REACHED[stage](drill) }));
  const steps = [...acts, ...stages].toSorted((one, other) => one.atMs - other.atMs);
  return {
    ...verdictOn(course, ending),
    appliance,
    cluster,
    window,
    exporter,
    version,
    readiness,
    steps: steps.map(({ atMs, text }) => ({ at: instantOf(atMs), text })),
    watched: {
      groups: watched.groups.map(({ key, name, master: after, isPreferredMaster }) => {
        const before = drill.watched.groups.find((each) => each.key === key)?.master;
        return { name, masterBefore: before, masterAfter: after, isPreferredMaster };
      }),
      websites: watched.websites.map(({ key, name, state: stateAfter, masters: after }) => {
        const before = drill.watched.websites.find((each) => each.key === key);
        return {
          name,
          stateBefore: before?.state,
          servedBefore: before?.masters,
          stateAfter,
          servedAfter: after,
        };
      }),
    },
    failovers: Array.from(failovers.values(), ({ at: begin, ...each }) => ({ begin, ...each })),
    withoutBackup: bare.map(({ fromMs, toMs }) => ({
      from: instantOf(fromMs),
      to: toMs === undefined ? undefined : instantOf(toMs),
      atMostSeconds: toMs === undefined ? undefined : (toMs - fromMs) / 1000,
    })),
    outages: outagesIn(course),
    incidents: incidentsIn(course),
    polling: {
      listsSeconds: HASTENED_MS.vrrp / 1000,
      websitesSeconds: HASTENED_MS.websites / 1000,
      looksSeconds: lookMs / 1000,
    },
    clocks: clocks && {
      own: instantOf(clocks.askedMs),
      exporter: instantOf(clocks.exporterMs),
      aheadSeconds: (clocks.exporterMs - (clocks.askedMs + clocks.answeredMs) / 2) / 1000,
      uncertainSeconds: (clocks.answeredMs - clocks.askedMs) / 2000,
    },
  };
}

export type DrillReport = ReturnType<typeof drillReport>;

export const FORMATS = { markdown: formatMarkdown, json: toJson } as const satisfies Readonly<
  Record<string, (report: DrillReport) => string>
>;

const VERDICTS: Readonly<Record<DrillReport["verdict"], string>> = {
  pass: "passed",
  fail: "failed",
  incomplete: "incomplete",
};

function formatMarkdown(report: DrillReport): string {
  const { verdict, reasons, appliance, cluster, window, exporter, readiness, steps, failovers } = report;
  const predicted = readiness.risks.filter(({ effect }) => effect !== "none");
  const outages = report.outages.map((outage) => {
    const { begin, end } = outage;
    const until = end === undefined ? "not over" : `until ${absoluteTime(end)}`;
    return `${absoluteTime(begin)}, ${until}: ${outageWords(outage)}: ${outage.isPredicted ? "predicted" : "not predicted"}`;
  });
  const incidents = report.incidents.map(({ begin, end, severity, summary, isExpected }) => {
    const until = end === undefined ? "not over" : `until ${absoluteTime(end)}`;
    return `${absoluteTime(begin)}, ${until}: ${summary} (${severity}, ${isExpected ? "expected" : "not expected"})`;
  });
  const bare = report.withoutBackup.map(({ from, to, atMostSeconds = 0 }) => {
    const time =
      to === undefined ? "not over" : `until ${absoluteTime(to)}, at most ${Math.ceil(atMostSeconds)} s`;
    return `${absoluteTime(from)}, ${time}`;
  });
  const parts: readonly (readonly [title: string, none: string, items: readonly string[]])[] = [
    ["Why", "All that was expected happened in time, and nothing else was critical.", reasons],
    [
      "Who and where",
      "",
      [
        `Started by: ${window.by ?? "not known"}`,
        `Comment: ${window.comment}`,
        `Exporter: ${exporter.url}, version ${exporter.version}`,
        `Command: version ${report.version}`,
        `Window: ${window.id}`,
        `Clocks: ${clockWords(report)}`,
      ],
    ],
    ["Steps", "", steps.map(({ at, text }) => `${absoluteTime(at)}: ${text}`)],
    ["Readiness before", "", [readiness.summary]],
    ["Predicted losses", "None.", predicted.map(({ summary }) => summary)],
    ["Addresses", "None.", report.watched.groups.map(groupLine)],
    ["Websites", "No website is tested.", report.watched.websites.map(websiteLine)],
    ["Outages of websites", noOutage(report), outages],
    ["Time without a known master", "No failover was seen.", failovers.map(failoverLine)],
    ["Time without a known backup", "None was seen.", bare],
    ["Incidents of the cluster", "None.", incidents],
    ["How it was measured", "", measured(report)],
  ];
  const sections = parts.map(([title, none, items]) => {
    const list = items.map((item) => `- ${escaped(item)}\n`).join("");
    return `\n## ${title}\n\n${list === "" ? `${none}\n` : list}`;
  });
  return `# Failover drill of ${escaped(appliance)} in ${escaped(cluster)}: ${VERDICTS[verdict]}\n${sections.join("")}`;
}

function clockWords({ clocks }: DrillReport): string {
  if (clocks === undefined) return "not compared, since the exporter did not show the window";
  const { own, exporter, aheadSeconds, uncertainSeconds } = clocks;
  const [off, by] = [Math.abs(aheadSeconds).toFixed(1), uncertainSeconds.toFixed(1)];
  return `${own} at the command was ${exporter} at the exporter, ${off} s ${aheadSeconds < 0 ? "behind" : "ahead"}, give or take ${by} s`;
}

function groupLine({
  name,
  masterBefore,
  masterAfter,
  isPreferredMaster,
}: DrillReport["watched"]["groups"][number]): string {
  const preferred =
    isPreferredMaster === undefined
      ? ""
      : isPreferredMaster
        ? ", the preferred one"
        : ", not the preferred one";
  const after = masterAfter === undefined ? "none known at the end" : `${masterAfter} at the end${preferred}`;
  return `${name}: MASTER was ${masterBefore ?? "none known"} before, and ${after}`;
}

function websiteLine({ name, ...of }: DrillReport["watched"]["websites"][number]): string {
  const before =
    of.stateBefore === undefined ? "not known" : `${of.stateBefore}, ${servedBy(of.servedBefore)}`;
  return `${name}: ${before} before; ${of.stateAfter}, ${servedBy(of.servedAfter)}, at the end`;
}

function servedBy(masters: readonly string[] = []): string {
  return masters.length === 0 ? "served by a member that is not known" : `served by ${listed(masters)}`;
}

function failoverLine({ begin, summary, nth, ...times }: DrillReport["failovers"][number]): string {
  const { withoutMasterAboutSeconds: about, withoutMasterAtMostSeconds: atMost } = times;
  const time = atMost === undefined ? "unknown" : timeWords(about, atMost);
  const again =
    nth === undefined
      ? ""
      : ` (number ${nth} between these members, each within five minutes of the one before)`;
  return `${absoluteTime(begin)}: ${time}. ${summary}${again}`;
}

/** Explains why no website was down although no master was known for some time. */
function noOutage({ failovers, polling, watched }: DrillReport): string {
  const atMost = Math.max(0, ...failovers.map((each) => each.withoutMasterAtMostSeconds ?? 0));
  if (watched.websites.length === 0) return "None was tested.";
  if (atMost === 0) return "None: no two tests in a row found a website down.";
  return (
    "None: no two tests in a row found a website down. While no MASTER was known, visitors reached no website of its addresses; " +
    `that time, of at most ${Math.ceil(atMost)} s, is given below. Tests are made every ${polling.websitesSeconds} s at the members themselves, and may not show it.`
  );
}

function measured({ polling }: DrillReport): readonly string[] {
  return [
    `The exporter polled VRRP lists every ${polling.listsSeconds} s and tested websites every ${polling.websitesSeconds} s, within the limits of simultaneous tests; the command looked at the exporter every ${polling.looksSeconds} s.`,
    "Instants of failovers, outages and incidents are those at which the exporter learned of them, by its clock; those of steps and of the time without a backup are by the clock of the command.",
    "At most: certain. A website's outage counts from the latest test that found it up at a member that was MASTER then, to the first test of a MASTER that did so again; the time without a known master, from the latest poll that found the former MASTER to the first that found the new one; the time without a backup, from the latest look with one to the next.",
    "About: the middle of the times that the polls leave possible. It assumes that an appliance that stops answering serves nobody from then on.",
  ];
}

/** Escapes a text, so that names and comments cannot become markup. */
function escaped(text: string): string {
  return printable(text)
    .replace(/\s+/g, " ")
    .replace(/[\\`*_[\]<>#|~&!]/g, "\\$&");
}
