import { windowFrom } from "../../exporter/maintenance/request.ts";
import type { MaintenanceWindow } from "../../exporter/maintenance/window.ts";
import type { Restored } from "../../exporter/board/board.ts";
import type { Instant } from "../../support/clock.ts";
import { groupBy } from "../../support/group-by.ts";
import { beginOf, namedFiles, dayOf, readLines } from "./day-files.ts";
import {
  atOf,
  clusterIn,
  formatRecord,
  isSubject,
  parseRecord,
  subjectIn,
  subjectKey,
  type IncidentRecord,
} from "./record.ts";
import { memoryOf, type LatestRecord } from "./memory.ts";
import { ongoingFrom } from "./ongoing.ts";

/** The number of days to read. The file of each day has the state of everything, unless the exporter was killed when that day began. */
const DAYS = 2;

/**
 * Reads from the latest files of a journal the state from which an exporter that starts `at` an instant continues. Rejects if the folder
 * cannot be read.
 */
export async function restore(
  folder: string,
  at: Instant,
  onDamaged: (path: string, error: unknown) => void,
): Promise<Restored> {
  const today = dayOf(at.wallMs);
  const days = [...new Set((await namedFiles(folder)).map(({ day }) => day))].filter((day) => day <= today);
  const [first] = days.slice(-DAYS);
  if (first === undefined) return { memories: new Map(), ongoing: new Map(), incidents: [], windows: [] };
  const latest = createReader();
  for await (const lines of readLines(folder, { fromMs: beginOf(first), toMs: at.wallMs }, onDamaged))
    lines.forEach(latest.read);
  return restoredFrom(latest.end(), at);
}

/** A run of the exporter. */
interface ReadRun {
  /** The latest line of the run. */
  latest: string;
  /** The clusters of which the run knew nothing any more, and the Unix times in milliseconds since when. */
  readonly lost: Map<string, number>;
}

/** The latest line about a subject. */
interface SubjectLine {
  readonly line: string;
  readonly run: ReadRun;
}

interface Left {
  readonly subjects: readonly SubjectLine[];
  readonly incidents: readonly IncidentRecord[];
  /** The windows, as they were last recorded. */
  readonly windows: readonly MaintenanceWindow[];
}

/** Creates a reader of lines, oldest first, that returns the last known state. */
function createReader(): { read(line: string): void; end(): Left } {
  const subjects = new Map<string, SubjectLine>();
  const incidents = new Map<string, IncidentRecord>();
  const windows = new Map<string, MaintenanceWindow>();
  let run: ReadRun = { latest: "", lost: new Map() };

  function keep(subject: string, line: string): void {
    const earlier = subjects.get(subject);
    if (earlier !== undefined && earlier.run !== run) {
      const knowledge = knowledgeIn(line);
      if (knowledge === "unknown") subjects.set(subject, { ...earlier, line: undated(earlier.line) });
      if (knowledge !== "state") return;
    }
    // A new entry keeps the order of the lines.
    subjects.delete(subject);
    subjects.set(subject, { line, run });
  }

  function readOther(line: string): void {
    const record = parseRecord(line);
    if (record === undefined) return;
    if (record.kind === "run" && record.why !== "day") run = { latest: line, lost: new Map() };
    run.latest = line;
    if (record.kind === "lost") run.lost.set(record.cluster, Date.parse(record.at));
    if (record.kind === "incident") incidents.set(record.incident.id, record);
    if (record.kind === "window") windows.set(record.id, windowFrom(record));
    if (isSubject(record)) keep(subjectKey(record), formatRecord(record));
  }

  return {
    read: (line) => {
      const subject = subjectIn(line);
      if (subject === undefined) {
        readOther(line);
        return;
      }
      keep(subject, line);
      run.latest = line;
    },
    end: () => ({
      subjects: [...subjects.values()],
      incidents: [...incidents.values()],
      windows: [...windows.values()],
    }),
  };
}

/**
 * Returns what a line says to the knowledge of earlier runs. A `state` replaces it. `unknown` states may follow from polls that had not ended
 * yet, so the earlier state is kept; nobody knows whether it lasted. `nothing` was judged before the first polls, or while they contradict
 * each other.
 */
function knowledgeIn(line: string): "state" | "unknown" | "nothing" {
  if (line.includes('"since":')) return "state";
  const record = parseRecord(line);
  if (record === undefined || !isSubject(record)) return "nothing";
  const { kind, state } = record;
  if (state === undefined || state === "changing") return "nothing";
  // These are not judged before all polls on which they depend.
  const isWhole = kind === "appliance" || kind === "cluster";
  return state === "unknown" && !isWhole ? "unknown" : "state";
}

/** Returns a line that does not say when the state began. */
function undated(line: string): string {
  const record = parseRecord(line);
  return record !== undefined && isSubject(record) ? formatRecord({ ...record, since: undefined }) : line;
}

function restoredFrom({ subjects, incidents, windows }: Left, at: Instant): Restored {
  const byCluster = groupBy(subjects, ({ line }) => clusterIn(line));
  const parts = new Set(incidents.map(({ incident }) => incident.failover?.repeated?.includes));
  const whole = incidents.filter(({ incident }) => !parts.has(incident.id));
  const incidentsOf = groupBy(whole, ({ cluster }) => cluster);
  const names = new Set([...byCluster.keys(), ...incidentsOf.keys()]);
  const memories = Array.from(names, (name) => {
    const [own, recorded] = [byCluster.get(name) ?? [], incidentsOf.get(name) ?? []];
    return [name, () => memoryOf(knownFrom(memorable(own)), recorded, at)] as const;
  });
  const ongoing = Array.from(incidentsOf, ([name, own]) => [name, () => ongoingFrom(own, at)] as const);
  const all = whole.map(({ incident }) => incident);
  return { memories: new Map(memories), ongoing: new Map(ongoing), incidents: all, windows };
}

/** The most groups of a cluster that are remembered, and the most websites. */
const MOST = 256;
const WELL: Readonly<Record<string, string>> = { group: '"state":"one_master"', website: '"state":"up"' };

/**
 * Returns the lines about the subjects of a cluster that are remembered. Of too many groups or websites these are those in trouble and the
 * latest of the others: one appliance may have invented ten thousand, and their lines would take long to parse.
 */
function memorable(latest: readonly SubjectLine[]): readonly SubjectLine[] {
  const left = latest.filter(({ line }) => !line.includes('"state":"gone"'));
  const byKind = groupBy(left, ({ line }) => /"kind":"(group|website)"/.exec(line)?.[1] ?? "");
  return [...byKind].flatMap(([kind, own]) => (kind === "" ? own : bounded(own, WELL[kind] ?? "")));
}

/** Returns the lines about the subjects that are remembered: of groups, or of websites by their address, all protocols together. */
function bounded(lines: readonly SubjectLine[], well: string): readonly SubjectLine[] {
  // The latest first: a website is as late as the latest line about any of its protocols.
  const subjects = groupBy(
    lines.toReversed(),
    ({ line }) => /"address":("(?:[^"\\]|\\.)*")/.exec(line)?.[1] ?? line,
  );
  if (subjects.size <= MOST) return lines;
  const isWell = (all: readonly SubjectLine[]): boolean => all.every(({ line }) => line.includes(well));
  const all = [...subjects.values()];
  return [...all.filter((each) => !isWell(each)), ...all.filter(isWell)].slice(0, MOST).flat();
}

/** Returns what is known of the subjects of a cluster. */
function knownFrom(latest: readonly SubjectLine[]): readonly LatestRecord[] {
  const known = new Map<string, LatestRecord & Pick<SubjectLine, "run">>();
  for (const { line, run } of latest) {
    const record = parseRecord(line);
    if (record === undefined || !isSubject(record)) continue;
    const untilMs = run.lost.get(record.cluster) ?? Date.parse(atOf(run.latest));
    known.set(subjectKey(record), { record, untilMs, run });
  }
  const all = [...known.values()].filter(({ record }) => record.state !== "gone");
  const whole = all.find(({ record: { kind } }) => kind === "cluster");
  const isDark = DARK.has(whole?.record.state);
  return all.map(({ record, untilMs, run }) => {
    // A later run knows each MASTER and what its failover would cost, and, unless it reached no appliance, what the appliances say.
    const isKnown = whole === undefined || whole.run === run || (!isDark && record.kind !== "readiness");
    return { record: isKnown ? record : { ...record, since: undefined }, untilMs };
  });
}

/** In these states of a cluster nothing is known of its groups and websites. */
const DARK: ReadonlySet<string | undefined> = new Set(["dark", "unknown"]);
