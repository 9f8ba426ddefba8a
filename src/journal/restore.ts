import type { MaintenanceWindow } from "../maintenance/window.ts";
import type { Restored } from "../status/board.ts";
import { isJudged } from "../status/remembered.ts";
import type { Instant } from "../support/clock.ts";
import { groupBy } from "../support/group-by.ts";
import { beginOf, namedFiles, dayOf, readLines } from "./day-files.ts";
import { createNews } from "./news.ts";
import { isSubject, subjectKey, windowFrom, type IncidentRecord, type SubjectRecord } from "./record.ts";
import { verdictFrom, type Known } from "./remembered-verdict.ts";

/** The state of everything is in the file of each day, unless the exporter was killed when that began. */
const DAYS = 2;

/** Reads from the latest files of a journal what an exporter that starts `at` an instant goes on from. Rejects if the folder cannot be read. */
export async function restore(
  folder: string,
  at: Instant,
  onDamaged: (path: string, error: unknown) => void,
): Promise<Restored> {
  const today = dayOf(at.wallMs);
  const days = [...new Set((await namedFiles(folder)).map(({ day }) => day))].filter((day) => day <= today);
  const [first] = days.slice(-DAYS);
  if (first === undefined) return { clusters: new Map(), incidents: [], windows: [] };
  const memory = createMemory();
  for await (const lines of readLines(folder, { fromMs: beginOf(first), toMs: at.wallMs }, onDamaged))
    lines.forEach(memory.read);
  return restoredFrom(memory.end(), at);
}

interface Remembered {
  readonly subjects: readonly Known[];
  readonly incidents: readonly IncidentRecord[];
  /** By id, the latest of each. */
  readonly windows: readonly MaintenanceWindow[];
}

/** Follows lines, oldest first, to what was known last. */
function createMemory(): { read(line: string): void; end(): Remembered } {
  const subjects = new Map<string, { readonly record: SubjectRecord; untilMs?: number }>();
  const incidents = new Map<string, IncidentRecord>();
  const windows = new Map<string, MaintenanceWindow>();
  const newsIn = createNews();
  let latestMs = 0;

  /** Of one cluster, or of all. */
  function endRun(cluster?: string): void {
    for (const each of subjects.values())
      if (cluster === undefined || each.record.cluster === cluster) each.untilMs ??= latestMs;
  }

  return {
    read: (line) => {
      const record = newsIn(line);
      if (record === undefined) return;
      if (record.kind === "run" && record.why !== "day") endRun();
      latestMs = Date.parse(record.at);
      if (record.kind === "lost") endRun(record.cluster);
      if (record.kind === "incident") incidents.set(record.incident.id, record);
      if (record.kind === "window") windows.set(record.id, windowFrom(record));
      if (!isSubject(record)) return;
      const key = subjectKey(record);
      // What an earlier run knew stays until a run has judged the subject, or has seen the beginning of what it does not know.
      const isFirst = subjects.get(key)?.untilMs !== undefined;
      if (record.state === "gone") subjects.delete(key);
      else if (!isFirst || isJudged(record) || record.since !== undefined) subjects.set(key, { record });
    },
    end: () => {
      endRun();
      const known = Array.from(subjects.values(), ({ record, untilMs = latestMs }) => ({ record, untilMs }));
      return { subjects: known, incidents: [...incidents.values()], windows: [...windows.values()] };
    },
  };
}

function restoredFrom({ subjects, incidents, windows }: Remembered, at: Instant): Restored {
  const byCluster = groupBy(subjects, ({ record }) => record.cluster);
  const parts = new Set(incidents.map(({ incident }) => incident.failover?.repeated?.includes));
  const whole = incidents.filter(({ incident }) => !parts.has(incident.id));
  const told = groupBy(whole, ({ cluster }) => cluster);
  const names = new Set([...byCluster.keys(), ...told.keys()]);
  const clusters = Array.from(names, (name) => {
    const known = byCluster.get(name) ?? [];
    return [name, verdictFrom(name, known, told.get(name) ?? [], at)] as const;
  });
  return { clusters: new Map(clusters), incidents: whole.map(({ incident }) => incident), windows };
}
