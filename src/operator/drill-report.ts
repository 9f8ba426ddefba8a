import { instantOf } from "../exporter/judge/words.ts";
import { printable } from "../support/text.ts";
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
  /** Says in sentences what the command did itself. */
  readonly acts: readonly { readonly atMs: number; readonly text: string }[];
}

/** Says what is true when a stage was reached. */
export const REACHED: Readonly<Record<DrillStage, (drill: Drill) => string>> = {
  taken_over: ({ appliance }) =>
    `Another appliance is the known MASTER of every group that ${appliance} had.`,
  complete: ({ cluster }) => `${cluster} is complete: each group has one MASTER and a known BACKUP.`,
  back: ({ appliance }) => `${appliance} is MASTER again of every group that it had, with a known BACKUP.`,
};

/** Returns the report of a drill as data, which is also its JSON. */
export function drillReport({ course, ending, window, exporter, acts }: DrillFacts) {
  const { drill, reached, incidents } = course;
  const { appliance, cluster, readiness } = drill;
  const stages = reached.map(({ stage, atMs }) => ({ atMs, text: REACHED[stage](drill) }));
  const steps = [...acts, ...stages].toSorted((one, other) => one.atMs - other.atMs);
  const outages = outagesIn(course);
  return {
    ...verdictOn(course, ending),
    appliance,
    cluster,
    window,
    exporter,
    readiness,
    steps: steps.map(({ atMs, text }) => ({ at: instantOf(atMs), text })),
    failovers: [...incidents.values()].flatMap(({ begin, summary, failover }) =>
      failover === undefined ? [] : { begin, summary, ...failover },
    ),
    outages,
    incidents: incidentsIn(course),
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
  const timed = failovers.map(({ begin, summary, withoutMasterAboutSeconds, withoutMasterAtMostSeconds }) => {
    const time =
      withoutMasterAtMostSeconds === undefined
        ? "unknown"
        : timeWords(withoutMasterAboutSeconds, withoutMasterAtMostSeconds);
    return `${absoluteTime(begin)}: ${time}. ${summary}`;
  });
  const outages = report.outages.map((outage) => {
    return `${outageWords(outage)}: ${outage.isPredicted ? "predicted" : "not predicted"}`;
  });
  const incidents = report.incidents.map(({ begin, end, severity, summary, isExpected }) => {
    const until = end === undefined ? "not over" : `until ${absoluteTime(end)}`;
    return `${absoluteTime(begin)}, ${until}: ${summary} (${severity}, ${isExpected ? "expected" : "not expected"})`;
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
        `Window: ${window.id}`,
      ],
    ],
    ["Steps", "", steps.map(({ at, text }) => `${absoluteTime(at)}: ${text}`)],
    ["Readiness before", "", [readiness.summary]],
    ["Predicted losses", "None.", predicted.map(({ summary }) => summary)],
    ["Outages of websites", "None.", outages],
    ["Time without a known master", "No failover was seen.", timed],
    ["Incidents of the cluster", "None.", incidents],
  ];
  const sections = parts.map(([title, none, items]) => {
    const list = items.map((item) => `- ${escaped(item)}\n`).join("");
    return `\n## ${title}\n\n${list === "" ? `${none}\n` : list}`;
  });
  return `# Failover drill of ${escaped(appliance)} in ${escaped(cluster)}: ${VERDICTS[verdict]}\n${sections.join("")}`;
}

/** Escapes a text, so that names and comments cannot become markup. */
function escaped(text: string): string {
  return printable(text)
    .replace(/\s+/g, " ")
    .replace(/[\\`*_[\]<>#|~&!]/g, "\\$&");
}
