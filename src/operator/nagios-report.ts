import type { FleetDocument, ProblemDocument } from "../exporter/document/schema.ts";
import { shortened } from "../exporter/judge/words.ts";
import { printable } from "../support/text.ts";
import { headlineOf, headlineText } from "../exporter/view/headline.ts";
import type { Tone } from "../exporter/view/row.ts";
import type { ExitCode } from "../exporter/command/command.ts";

/** The states of a plugin for Nagios, Icinga and Checkmk. */
const STATES = {
  well: ["OK", 0],
  planned: ["OK", 0],
  warning: ["WARNING", 1],
  critical: ["CRITICAL", 2],
  unknown: ["UNKNOWN", 3],
} as const satisfies Readonly<Record<Tone, readonly [name: string, ExitCode]>>;

/** Nagios reads 8 KiB. These limits keep the output below that in any script. */
const MAX_PROBLEMS = 15;
const MAX_CHARACTERS = 160;

/** The output and the exit code of a plugin. */
interface Result {
  readonly text: string;
  readonly exitCode: ExitCode;
}

/** Says the state of the fleet in one line with performance data; then a line for each problem. Planned problems do not count. */
export function nagiosReport(document: FleetDocument): Result {
  const first = headlineOf(document);
  const { level, detail } = first;
  const counted = document.problems.filter(({ isPlanned }) => isPlanned !== true);
  const lines = counted.slice(0, MAX_PROBLEMS).map(({ severity, cluster, summary }) => {
    const where = cluster === undefined ? "" : `${cluster}: `;
    return oneLine(`${STATES[severity][0]} ${where}${summary}`);
  });
  const left = counted.length - lines.length;
  const more = left === 0 ? [] : [`${left} more`];
  const answer = headline(level, `${headlineText(first)}. ${detail}`);
  const all = [`${answer} | ${performanceData(document, counted)}`, ...lines, ...more];
  return { text: `${all.join("\n")}\n`, exitCode: STATES[level][1] };
}

/** Says why nothing is known, in one line. */
export function nagiosFailure(message: string): Result {
  return { text: `${headline("unknown", message)}\n`, exitCode: STATES.unknown[1] };
}

function headline(level: Tone, text: string): string {
  return oneLine(`APPLIANCES ${STATES[level][0]} - ${text}`);
}

/** Returns `label=value;warn;crit;min;max`: a threshold of 0 is exceeded by 1. */
function performanceData({ problems, clusters }: FleetDocument, counted: readonly ProblemDocument[]): string {
  const of = (severity: ProblemDocument["severity"]): number =>
    counted.filter((problem) => problem.severity === severity).length;
  const all = clusters.flatMap((cluster) => cluster.appliances);
  const appliances = all.filter(({ state }) => state !== "disabled");
  const up = appliances.filter(({ state }) => state === "up").length;
  return [
    `critical=${of("critical")};;0;0`,
    `warning=${of("warning")};0;;0`,
    `unknown=${of("unknown")};;;0`,
    `planned=${problems.length - counted.length};;;0`,
    `appliances_up=${up};;;0;${appliances.length}`,
  ].join(" ");
}

/**
 * The characters of names that would be more than text: a vertical bar begins performance data, and angle brackets are markup in web
 * interfaces that show the output of plugins unescaped.
 */
const REPLACED: Readonly<Record<string, string>> = { "|": "/", "<": "(", ">": ")" };

function oneLine(text: string): string {
  const plain = printable(text).replaceAll(/[|<>]/g, (char) => REPLACED[char] ?? "");
  return shortened(plain.replaceAll(/\s+/g, " ").trim(), MAX_CHARACTERS);
}
