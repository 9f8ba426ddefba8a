import type { JournalRecord, SubjectRecord } from "../../../src/history/journal/record.ts";
import type { ClusterDocument, FleetDocument } from "../../../src/exporter/document/schema.ts";
import { instantOf } from "../../../src/exporter/judge/words.ts";
import { createTimelines, type Timelines } from "../../../src/history/timeline/timelines.ts";

const HOUR_MS = 3_600_000;

/**
 * The timelines of a document's clusters, which end as the document says: known for two days but for one hour, with some outages of
 * every third website.
 */
export function timelinesOf({ clusters }: FleetDocument, nowMs: number): Timelines {
  const timelines = createTimelines();
  const at = (hoursAgo: number): string => instantOf(nowMs - hoursAgo * HOUR_MS);
  const run = (hoursAgo: number): JournalRecord => {
    return { at: at(hoursAgo), kind: "run", v: 1, why: "start", version: "1.2.3", shard: "0/1" };
  };
  const all = (hoursAgo: number): readonly JournalRecord[] =>
    clusters.flatMap((cluster) => recordsOf(cluster, at(hoursAgo)));
  const outages = clusters
    .flatMap((cluster) => websitesOf(cluster, at(0)))
    .filter((_, nth) => nth % 3 === 1)
    .flatMap((record) => [
      { ...record, at: at(5), state: "down" },
      { ...record, at: at(4.9), state: "up" },
      { ...record, at: at(3), state: "unstable" },
      { ...record, at: at(2), state: "up" },
    ]);
  const present = clusters.flatMap((cluster) => presentIn(cluster, at(1)));
  const later = [...outages, ...present].toSorted((one, other) => (one.at < other.at ? -1 : 1));
  const records = [run(48), ...all(48), { at: at(9), kind: "alive" } as const, run(8), ...all(8), ...later];
  for (const record of records) timelines.read(record);
  return timelines;
}

function recordsOf(cluster: ClusterDocument, at: string): readonly SubjectRecord[] {
  const { name, groups } = cluster;
  return [
    { at, kind: "cluster", cluster: name, state: "up", worst: "up" },
    ...groups.map(({ vhid, vip }): SubjectRecord => {
      return { at, kind: "group", cluster: name, vhid, vip, state: "one_master" };
    }),
    ...websitesOf(cluster, at),
  ];
}

/** What the document says now, since then or for an hour. */
function presentIn(cluster: ClusterDocument, hourAgo: string): readonly SubjectRecord[] {
  const { name, level, groups, websites } = cluster;
  const worst = level === "critical" ? "down" : level === "warning" ? "impaired" : "up";
  return [
    { at: hourAgo, kind: "cluster", cluster: name, worst },
    ...groups.map(({ vhid, vip, state, since = hourAgo }): SubjectRecord => {
      return { at: since, kind: "group", cluster: name, vhid, vip, state };
    }),
    ...websites.flatMap(({ id, name: website, states }) =>
      states.map(({ protocol = "" as const, state, since = hourAgo }): SubjectRecord => {
        const subject = { kind: "website", cluster: name, id, name: website, protocol } as const;
        return { at: since, ...subject, address: website, state };
      }),
    ),
  ];
}

function websitesOf({ name: cluster, websites }: ClusterDocument, at: string): readonly SubjectRecord[] {
  return websites.flatMap(({ id, name, states }) =>
    states.map(({ protocol = "" as const }): SubjectRecord => {
      return { at, kind: "website", cluster, id, name, protocol, address: name, state: "up" };
    }),
  );
}
