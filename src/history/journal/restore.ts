import { windowFrom } from "../../exporter/maintenance/request.ts";
import type { MaintenanceWindow } from "../../exporter/maintenance/window.ts";
import type { Restored } from "../../exporter/board/board.ts";
import type { Memory } from "../../exporter/judge/memory.ts";
import type { Instant } from "../../support/clock.ts";
import { groupBy } from "../../support/group-by.ts";
import { keepLatest } from "../../support/keep-latest.ts";
import { inSlices } from "../../support/slices.ts";
import { readLatest } from "./day-files.ts";
import { readOngoing, type OngoingLines } from "./ongoing-file.ts";
import {
  atOf,
  clusterIn,
  endsKnowledge,
  formatRecord,
  isSubject,
  parseRecord,
  subjectIn,
  subjectKey,
  type IncidentRecord,
  type JournalRecord,
  type WindowRecord,
} from "./record.ts";
import { memoryOf, type LatestRecord } from "./memory.ts";
import { ongoingFrom } from "./ongoing.ts";

/** The number of days to read. The file of each day has the state of everything, unless the exporter was killed when that day began. */
const DAYS = 2;
/** The most bytes to read, the newest ones: what 10,000 clusters write in these days. */
const MOST_BYTES = 64 * 2 ** 20;
/** The most incidents of a cluster, and the most windows, that are restored: the latest ones. */
export const MOST_INCIDENTS = 64;
const MOST_WINDOWS = 1024;

/** What goes on and the begin of a run are written within this time. */
const TOGETHER_MS = 15_000;

export interface RestoringEvents {
  /** Reports what of the journal cannot be read. */
  readonly onDamaged: (path: string, error: unknown) => void;
  /** Reports a file that is not read as a whole, since it is too large. */
  readonly onLeftOut: (path: string) => void;
  /** Reports that the file system has answered. */
  readonly onProgress: () => void;
}

/**
 * Reads from the latest files of a journal the state from which an exporter that starts `at` an instant continues. Rejects if the folder
 * cannot be read.
 */
export async function restore(
  folder: string,
  at: Instant,
  events: RestoringEvents,
  mostBytes = MOST_BYTES,
): Promise<Restored> {
  const ongoing = await readOngoing(folder, events.onDamaged);
  const latest = createReader();
  const part = { toMs: at.wallMs, days: DAYS, bytes: mostBytes };
  for await (const lines of readLatest(folder, part, events)) {
    events.onProgress();
    lines.forEach(latest.read);
  }
  if (ongoing !== undefined) await latest.complete(ongoing);
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

/** Reads lines, oldest first. */
interface StateReader {
  read(line: string): void;
  /** Adds what went on at a later instant, or at an earlier one that the lines do not reach. */
  complete(ongoing: OngoingLines): Promise<void>;
  /** Returns the last known state. */
  end(): Left;
}

function createReader(): StateReader {
  const subjects = new Map<string, SubjectLine>();
  const incidents = new Map<string, Map<string, IncidentRecord>>();
  const windows = new Map<string, WindowRecord>();
  let run: ReadRun = { latest: "", lost: new Map() };
  let latestRunMs = Number.NEGATIVE_INFINITY;

  function incidentsOf(cluster: string): Map<string, IncidentRecord> {
    const own = incidents.get(cluster) ?? new Map<string, IncidentRecord>();
    incidents.set(cluster, own);
    return own;
  }

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
    if (record.kind === "run" && record.why !== "damage") latestRunMs = Date.parse(record.at);
    if (record.kind === "run" && endsKnowledge(record)) run = { latest: line, lost: new Map() };
    run.latest = line;
    if (record.kind === "lost") run.lost.set(record.cluster, Date.parse(record.at));
    if (record.kind === "incident")
      keepLatest(incidentsOf(record.cluster), record.incident.id, record, MOST_INCIDENTS);
    if (record.kind === "window") keepLatest(windows, record.id, record, MOST_WINDOWS);
    if (isSubject(record)) keep(subjectKey(record), line);
  }

  /** Adds an incident, unless the lines know it later. What is not over goes behind the others, so that it stays. */
  function goesOn(record: IncidentRecord): void {
    const own = incidentsOf(record.cluster);
    const { id, end } = record.incident;
    if (!isLater(record, own.get(id))) return;
    if (end !== undefined && own.has(id)) own.set(id, record);
    else keepLatest(own, id, record, MOST_INCIDENTS);
  }

  /** What else the lines say to go on is over: its end was left out of the files of the days. */
  function endOthers(at: string, goOn: readonly JournalRecord[]): void {
    const lost = new Set(goOn.flatMap((each) => (each.kind === "lost" ? each.cluster : [])));
    const open = new Set(goOn.flatMap((each) => (each.kind === "incident" ? each.incident.id : [])));
    const planned = new Set(goOn.flatMap((each) => (each.kind === "window" ? each.id : [])));
    for (const [cluster, own] of incidents)
      for (const [id, { incident, ...record }] of own) {
        const isOver = incident.end === undefined && !open.has(id) && !lost.has(cluster);
        if (isOver && record.at <= at)
          own.set(id, { ...record, incident: { ...incident, end: at }, open: undefined });
      }
    for (const [id, record] of windows) if (record.at <= at && !planned.has(id)) windows.delete(id);
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
    complete: async ({ at, lines }) => {
      // An earlier version, which has no such file, ran since.
      if (latestRunMs - Date.parse(at) > TOGETHER_MS) return;
      const goOn: JournalRecord[] = [];
      await inSlices(lines, (line) => {
        const record = parseRecord(line);
        if (record !== undefined) goOn.push(record);
      });
      endOthers(at, goOn);
      const then: ReadRun = { latest: lines.at(-1) ?? "", lost: new Map() };
      for (const record of goOn) {
        if (record.kind === "incident") goesOn(record);
        if (record.kind === "window" && isLater(record, windows.get(record.id)))
          keepLatest(windows, record.id, record, MOST_WINDOWS);
        if (!isSubject(record)) continue;
        const known = subjects.get(subjectKey(record))?.run.latest;
        if (known === undefined || atOf(known) < at)
          subjects.set(subjectKey(record), { line: formatRecord(record), run: then });
      }
    },
    end: () => ({
      subjects: [...subjects.values()],
      incidents: [...incidents.values()].flatMap((own) => [...own.values()]),
      // A window of the configuration runs as the configuration says now, unless somebody has changed it.
      windows: Array.from(windows.values(), windowFrom).filter(
        ({ origin, changedBy }) => origin !== "configuration" || changedBy !== undefined,
      ),
    }),
  };
}

function isLater({ at }: Pick<JournalRecord, "at">, other: Pick<JournalRecord, "at"> | undefined): boolean {
  return other === undefined || other.at <= at;
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
  const apart = incidents.filter(({ incident }) => !parts.has(incident.id));
  const incidentsOf = groupBy(apart, ({ cluster }) => cluster);
  const names = new Set([...byCluster.keys(), ...incidentsOf.keys()]);
  const memory = (name: string): Memory => {
    const [own, recorded] = [byCluster.get(name) ?? [], incidentsOf.get(name) ?? []];
    return memoryOf(knownFrom(memorable(own)), recorded, at);
  };
  const memories = Array.from(names, (name) => [name, () => memory(name)] as const);
  const ongoing = Array.from(
    incidentsOf,
    ([name, own]) => [name, () => ongoingFrom(own, memory(name), at)] as const,
  );
  const all = apart.map(({ incident }) => incident);
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
