import type { Instant } from "../support/clock.ts";
import type { Logger } from "../support/log.ts";
import type { Observed } from "./happenings.ts";
import type { ClusterIncidents } from "./incident.ts";
import { incidentsAfter, withoutCluster, type Step } from "./incidents.ts";
import { logIncidents } from "./log.ts";
import { createPast, type Past } from "./past.ts";
import type { KnownIncident } from "./schema.ts";
import type { Judged } from "./verdict.ts";

/** A verdict that follows on another one, and what has led to it. */
export interface Change extends Judged, Pick<Step, "memory" | "isSettled"> {
  readonly at: Instant;
  /** The changes of the facts; `undefined` if time alone has passed. */
  readonly observed: Observed | undefined;
}

/** Tells what has happened, by what the verdicts say one after the other. No verdict follows from the story. */
export interface Story extends Pick<Past, "list"> {
  /** Takes the next verdict on a cluster. */
  follow(change: Change): void;
  /** Returns the incidents of a cluster that are not over, and the recent failovers. */
  of(cluster: string): ClusterIncidents | undefined;
  /** Returns the monotonic instant at which time alone changes the incidents of a cluster; infinite if time alone changes nothing. */
  changesAtMs(cluster: string): number;
  /** Adds the incidents of an earlier run that are over; the others are known from the start. */
  restore(incidents: readonly KnownIncident[]): void;
  /** Ends the incidents of a cluster that is no longer configured, and forgets it. */
  forget(cluster: string, at: Instant): void;
}

export interface StoryDeps {
  /** The incidents of an earlier run that are not over, and its recent failovers, by cluster. */
  readonly open: ReadonlyMap<string, () => ClusterIncidents>;
  /** All incidents of an earlier run. */
  readonly incidents: readonly KnownIncident[];
  readonly logger: Logger;
  /** Receives the incidents of a cluster each time that they change. */
  readonly onChange: (now: ClusterIncidents, atMs: number) => void;
}

export function createStory({ open, incidents, logger, onChange }: StoryDeps): Story {
  const earlier = new Map(open);
  const latest = new Map<string, ClusterIncidents>();
  const past = createPast();
  past.restore(incidents);

  const of = (cluster: string): ClusterIncidents | undefined => latest.get(cluster);

  return {
    follow: (change) => {
      const { cluster } = change.now.facts;
      const before = latest.get(cluster);
      if (before !== undefined && isQuiet(change, before)) return;
      const now = incidentsAfter({ ...change, known: before ?? earlier.get(cluster)?.() });
      if (now === before) return;
      latest.set(cluster, now);
      earlier.delete(cluster);
      logIncidents(logger, past.add(now.news));
      onChange(now, change.at.wallMs);
    },
    of,
    changesAtMs: (cluster) => latest.get(cluster)?.untilMs ?? Number.POSITIVE_INFINITY,
    forget: (cluster, at) => {
      const last = latest.get(cluster) ?? earlier.get(cluster)?.();
      const gone = last && withoutCluster(last, at);
      if (gone !== undefined && gone.news.length > 0) {
        logIncidents(logger, past.add(gone.news));
        onChange(gone, at.wallMs);
      }
      for (const known of [latest, earlier]) known.delete(cluster);
      past.forget(cluster);
    },
    restore: (others) => past.restore(others.filter(({ end }) => end !== undefined)),
    list: past.list,
  };
}

/** Whether nothing can have happened, as after most polls: no state is another one, and time changes nothing. */
function isQuiet({ before, now, at, memory }: Change, { untilMs }: ClusterIncidents): boolean {
  const isSame =
    before?.basis === now.basis && before.groups === now.groups && before.planned === now.planned;
  return isSame && memory === undefined && at.monotonicMs < untilMs;
}
