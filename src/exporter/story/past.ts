import { groupBy } from "../../support/group-by.ts";
import { once } from "../../support/kept.ts";
import type { Incident } from "./incident.ts";
import { incidentDocument, incidentKeys } from "./incident-document.ts";
import type { IncidentDocument, KnownIncident } from "../document/schema.ts";

const MAX_INCIDENTS = 200;
/** The most incidents of an earlier run from which those to keep are chosen. */
const MAX_RESTORED = 4 * MAX_INCIDENTS;
const MAX_MEANWHILE = 8;
/** Other events within this time of an incident are listed with it. */
const MEANWHILE_MS = 60_000;

type Listed = Omit<IncidentDocument, "meanwhile">;

/** The incidents of the fleet since the exporter started; bounded, in memory. */
export interface IncidentList {
  /** Adds incidents that began, changed or ended; returns each as it was and is. */
  add(
    incidents: readonly Incident[],
  ): readonly { readonly before: KnownIncident | undefined; readonly now: KnownIncident }[];
  /** Adds incidents of an earlier run of the exporter, in any order; incidents that are already known stay. */
  restore(incidents: readonly KnownIncident[]): void;
  /** Forgets a cluster that is no longer configured. */
  forget(cluster: string): void;
  /** Returns the incidents, the latest one first. */
  list(): readonly IncidentDocument[];
}

export function createPast(maxIncidents: number = MAX_INCIDENTS): IncidentList {
  let all: readonly Listed[] = [];
  return {
    add: (incidents) =>
      incidents.map((incident) => {
        const now = { ...incidentDocument(incident), keys: incidentKeys(incident) };
        const before = all.find(({ id }) => id === now.id);
        // The second of three failovers was an incident of its own, and is now part of this one.
        const others = all.filter(({ id }) => id !== now.failover?.repeated?.includes);
        const known = others.map((each) => (each === before ? now : each));
        all = bounded(before === undefined ? [now, ...known] : known, maxIncidents);
        return { before, now };
      }),
    restore: (incidents) => {
      const ids = new Set(all.map(({ id }) => id));
      const known = latestOf([...all, ...incidents.filter(({ id }) => !ids.has(id))], MAX_RESTORED);
      const latestFirst = known.toSorted((one, other) => Date.parse(other.begin) - Date.parse(one.begin));
      all = bounded(latestFirst.slice(0, MAX_RESTORED), maxIncidents);
    },
    forget: (gone) => {
      all = all.filter(({ cluster }) => cluster !== gone);
    },
    list: () => documentsOf(all),
  };
}

/** Returns at least so many incidents, the latest ones: a journal may have hundreds of thousands, and to sort them all takes seconds. */
function latestOf(all: readonly Listed[], most: number): readonly Listed[] {
  const begins = Float64Array.from(all, ({ begin }) => Date.parse(begin)).toSorted();
  const fromMs = begins.at(-most) ?? Number.NEGATIVE_INFINITY;
  return all.filter(({ begin }) => Date.parse(begin) >= fromMs);
}

/** Each scrape asks for the list, and most of them for the same. */
const documentsOf = once((all: readonly Listed[]): readonly IncidentDocument[] => {
  const byCluster = groupBy(all, ({ cluster }) => cluster);
  return all.map((each) => ({ ...each, meanwhile: meanwhile(each, byCluster.get(each.cluster) ?? []) }));
});

/** Returns the other events of the cluster at about the beginning of an incident. */
function meanwhile(incident: Listed, others: readonly Listed[]): IncidentDocument["meanwhile"] {
  const near = others.filter(
    (each) =>
      each !== incident && Math.abs(Date.parse(each.begin) - Date.parse(incident.begin)) <= MEANWHILE_MS,
  );
  return near.slice(0, MAX_MEANWHILE).map(({ id, kind, begin, summary }) => ({ id, kind, begin, summary }));
}

/**
 * Bounds the number of incidents. The cluster with the most incidents loses its oldest, so that one cluster cannot displace those of all
 * others.
 */
function bounded(all: readonly Listed[], most: number): readonly Listed[] {
  if (all.length <= most) return all;
  const byCluster = [...groupBy(all, ({ cluster }) => cluster).values()];
  const longest = Math.max(...byCluster.map(({ length }) => length));
  const last = byCluster.find(({ length }) => length === longest)?.at(-1);
  const others = all.filter((each) => each !== last);
  return bounded(others, most);
}
