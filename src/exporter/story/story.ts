import type { Instant } from "../../support/clock.ts";
import type { Logger } from "../../support/log.ts";
import type { ClusterIncidents, Incident } from "./incident.ts";
import { endsOf, incidentsAfter, type Ongoing, type StoryStep } from "./incidents.ts";
import { logIncidents } from "./log.ts";
import { createPast, type IncidentList } from "./past.ts";
import type { KnownIncident } from "../document/schema.ts";
import type { ClusterVerdict } from "../judge/verdict.ts";

/** Reports what has happened: it compares each verdict with the one before. No verdict follows from the story. */
export interface Story extends Pick<IncidentList, "list"> {
  /** Takes the next verdict on a cluster, and what has led to it. */
  follow(step: Pick<StoryStep, "now" | "at" | "observed" | "start">): void;
  /** Returns the incidents of a cluster that are not over, and the recent failovers. */
  of(cluster: string): ClusterIncidents | undefined;
  /** Returns the monotonic instant at which time alone changes the incidents of a cluster; infinite if time alone changes nothing. */
  changesAtMs(cluster: string): number;
  /** Adds the incidents of an earlier run that are over; the others are known from the start. */
  restore(incidents: readonly KnownIncident[]): void;
  /** Ends the incidents of a cluster that is no longer configured, and forgets it. */
  forget(cluster: string, at: Instant): void;
}

/** The incidents that a step began, changed or ended, and `now` all of the cluster; `now` is absent when the cluster is gone. */
export interface News {
  readonly cluster: string;
  readonly news: readonly Incident[];
  readonly now?: ClusterIncidents;
}

export interface StoryDeps {
  /** What an earlier run left, by cluster. */
  readonly ongoing: ReadonlyMap<string, () => Ongoing>;
  /** All incidents of an earlier run. */
  readonly incidents: readonly KnownIncident[];
  readonly logger: Logger;
  /** Receives the incidents of a cluster each time that they change. */
  readonly onNews: (news: News, atMs: number) => void;
}

/** The latest verdict on a cluster, which each poll replaces in place, and what has happened until then. */
interface Followed {
  verdict: ClusterVerdict;
  readonly incidents: ClusterIncidents;
}

export function createStory({ ongoing, incidents, logger, onNews }: StoryDeps): Story {
  const earlier = new Map(ongoing);
  const latest = new Map<string, Followed>();
  const past = createPast();
  past.restore(incidents);

  function report(news: News, atMs: number): void {
    logIncidents(logger, past.add(news.news));
    onNews(news, atMs);
  }

  return {
    follow: ({ now: verdict, at, observed, start }) => {
      const { cluster } = verdict.facts;
      const followed = latest.get(cluster);
      const { verdict: before, incidents: known } = followed ?? {};
      const left = earlier.get(cluster)?.();
      const now = incidentsAfter({ known, ongoing: left, before, now: verdict, at, observed, start });
      if (followed !== undefined && now === known) {
        followed.verdict = verdict;
        return;
      }
      latest.set(cluster, { verdict, incidents: now });
      earlier.delete(cluster);
      if (now !== known) report({ cluster, news: now.news, now }, at.wallMs);
    },
    of: (cluster) => latest.get(cluster)?.incidents,
    changesAtMs: (cluster) => latest.get(cluster)?.incidents.untilMs ?? Number.POSITIVE_INFINITY,
    forget: (cluster, at) => {
      const last = latest.get(cluster)?.incidents ?? earlier.get(cluster)?.();
      for (const known of [latest, earlier]) known.delete(cluster);
      report({ cluster, news: last === undefined ? [] : endsOf(last, at) }, at.wallMs);
      past.forget(cluster);
    },
    restore: (others) => past.restore(others.filter(({ end }) => end !== undefined)),
    list: past.list,
  };
}
