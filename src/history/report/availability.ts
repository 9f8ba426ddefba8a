import type { TimeRange } from "../journal/day-files.ts";
import type { KnownIncident } from "../../exporter/document/schema.ts";
import { groupName, instantOf } from "../../exporter/judge/words.ts";
import { groupBy } from "../../support/group-by.ts";
import type { RangeHistory, SubjectHistory } from "./history.ts";
import { lengthOf, outagesIn, whole, type PartOfWhole, type Span } from "./spans.ts";

/** The milliseconds of a range of time in which something was up, down, and so on. Their sum is the whole range. */
export interface Figures {
  readonly upMs: number;
  readonly downMs: number;
  readonly unknownMs: number;
  /** The time in which the subject was down or unknown because of planned work on the whole cluster. */
  readonly plannedMs: number;
  /** The part of the known and unplanned time in which the subject was up, 0 to 1; absent if there is no such time. */
  readonly availability?: number | undefined;
}

/** The figures of a subject. Instants are RFC 3339 in UTC. */
export interface AvailabilityRow extends Figures {
  /** The instant at which the subject was first known; absent if it never was. */
  readonly knownSince?: string | undefined;
  /** The instant from which the subject was no longer in the configuration; absent if it still is. */
  readonly goneSince?: string | undefined;
  readonly spans: readonly Span[];
}

export interface GroupRow extends AvailabilityRow {
  readonly vhid: number;
  readonly vip: string;
  /** An interface on its link; absent unless several groups of the cluster have this VHID and VIP. */
  readonly interface?: string | undefined;
  /** The parts of `downMs`. */
  readonly splitBrainMs: number;
  readonly noMasterMs: number;
}

export interface WebsiteRow extends AvailabilityRow {
  readonly id: number;
  readonly name: string;
  readonly protocol: string;
}

/** The times in which a failover would have lost nothing, or something; the rest is not known. */
interface ReadinessTimes {
  readonly readyMs: number;
  readonly notReadyMs: number;
  /** The ready part of the known time, 0 to 1. */
  readonly ready?: number | undefined;
}

export interface ClusterRow extends AvailabilityRow {
  readonly name: string;
  /** The readiness; absent if no failover was judged. */
  readonly readiness?: ReadinessTimes | undefined;
  readonly groups: readonly GroupRow[];
  readonly websites: readonly WebsiteRow[];
}

/** An outage, cut to the range. */
export interface Outage {
  readonly cluster: string;
  /** The name `192.0.2.100 (vhid 2)` or `shop https`. */
  readonly subject: string;
  readonly from: string;
  readonly to: string;
  /** The known part of the time between. */
  readonly durationMs: number;
}

export interface Availability {
  readonly clusters: readonly ClusterRow[];
  /** The outages of groups and websites, the longest one first. */
  readonly outages: readonly Outage[];
  /** The failovers, oldest first. */
  readonly failovers: readonly KnownIncident[];
  readonly leftOut: number;
}

const MAX_OUTAGES = 20;

/** In this order, `a2` comes before `a10`. */
const { compare } = new Intl.Collator("en", { numeric: true });

/** Divides a range of time for each cluster, group and website that a history knows. */
export function availabilityOf(history: RangeHistory, range: TimeRange): Availability {
  const subjects = [...history.subjects.values()].filter(({ present }) => present.length > 0);
  const byCluster = groupBy(subjects, ({ record }) => record.cluster);
  const clusters = Array.from(byCluster, ([name, those]) => clusterRow(name, those, range));
  const outages = clusters
    .flatMap(outagesOf)
    .toSorted((one, other) => other.span.downMs - one.span.downMs)
    .slice(0, MAX_OUTAGES);
  return {
    clusters: clusters.toSorted((one, other) => compare(one.name, other.name)),
    outages: outages.map(({ cluster, subject, span }) => {
      const [from, to] = [instantOf(span.fromMs), instantOf(span.toMs)];
      return { cluster, subject, from, to, durationMs: span.downMs };
    }),
    failovers: [...history.failovers.values()].toSorted((one, other) => compare(one.begin, other.begin)),
    leftOut: history.leftOut,
  };
}

function clusterRow(name: string, subjects: readonly SubjectHistory[], range: TimeRange): ClusterRow {
  const members = subjects.filter(({ record: { kind } }) => kind === "group" || kind === "website");
  const masters = subjects.filter(({ record: { kind } }) => kind === "readiness");
  const groups = subjects.flatMap((each) => groupRow(each, range));
  const websites = subjects.flatMap((each) => websiteRow(each, subjects, range));
  const present = subjects.flatMap((each) => each.present);
  return {
    name,
    ...rowOf({ known: whole(members), present }, range),
    readiness: masters.length === 0 ? undefined : readinessOf(masters),
    groups: groups.toSorted(
      (one, other) =>
        compare(one.vip, other.vip) ||
        one.vhid - other.vhid ||
        compare(one.interface ?? "", other.interface ?? ""),
    ),
    websites: websites.toSorted(
      (one, other) =>
        compare(one.name, other.name) || one.id - other.id || compare(one.protocol, other.protocol),
    ),
  };
}

function rowOf({ known, present }: PartOfWhole, range: TimeRange): AvailabilityRow {
  const downMs = sum(known, ({ band }) => band === "down");
  const plannedMs = sum(known, ({ band }) => band === "planned");
  const upMs = sum(known, ({ band }) => band === "up" || band === "impaired");
  const wholeMs = lengthOf(range);
  const unknownMs = wholeMs - upMs - downMs - plannedMs;
  const presentToMs = present.reduce((latest, { toMs }) => Math.max(latest, toMs), range.fromMs);
  const [first] = known;
  return {
    upMs,
    downMs,
    unknownMs,
    plannedMs,
    availability: shareOf(upMs, wholeMs - unknownMs - plannedMs),
    knownSince: first && instantOf(first.fromMs),
    goneSince: presentToMs < range.toMs ? instantOf(presentToMs) : undefined,
    spans: known,
  };
}

function groupRow({ record, ...member }: SubjectHistory, range: TimeRange): readonly GroupRow[] {
  if (record.kind !== "group") return [];
  const { vhid, vip, interface: name } = record;
  const downIn = (wanted: string): number =>
    sum(member.known, ({ band, state }) => band === "down" && state === wanted);
  const [splitBrainMs, noMasterMs] = [downIn("split_brain"), downIn("no_master")];
  return [{ vhid, vip, interface: name, ...rowOf(member, range), splitBrainMs, noMasterMs }];
}

/** Returns the row of a website. If its protocols were not known at first, only they have rows. */
function websiteRow(
  { record, ...member }: SubjectHistory,
  others: readonly SubjectHistory[],
  range: TimeRange,
): readonly WebsiteRow[] {
  if (record.kind !== "website") return [];
  const { id, name, protocol } = record;
  const isOther = ({ record: other }: SubjectHistory): boolean =>
    other.kind === "website" && other.id === id && other.name === name && other.protocol !== "";
  const isReplaced = protocol === "" && member.known.length === 0 && others.some(isOther);
  return isReplaced ? [] : [{ id, name, protocol, ...rowOf(member, range) }];
}

/** Returns the readiness. A failover that would lose something is not ready, nor is one that would be an outage. */
function readinessOf(masters: readonly SubjectHistory[]): ReadinessTimes {
  const members = masters.map(({ known, present }): PartOfWhole => {
    return {
      present,
      known: known.map((span) => (span.band === "impaired" ? { ...span, band: "down" } : span)),
    };
  });
  const spans = whole(members);
  const [readyMs, notReadyMs] = [
    sum(spans, ({ band }) => band === "up"),
    sum(spans, ({ band }) => band === "down"),
  ];
  return { readyMs, notReadyMs, ready: shareOf(readyMs, readyMs + notReadyMs) };
}

/** Returns the outages of groups and websites. */
function outagesOf({ name: cluster, groups, websites }: ClusterRow) {
  const titled = [
    ...groups.map((row) => [groupName(row), row] as const),
    ...websites.map((row) => [websiteTitle(row), row] as const),
  ];
  return titled.flatMap(([subject, { spans }]) =>
    outagesIn(spans).map((span) => ({ cluster, subject, span })),
  );
}

/** Returns `shop https`. */
export function websiteTitle({ name, protocol }: Pick<WebsiteRow, "name" | "protocol">): string {
  return `${name} ${protocol}`.trim();
}

function sum(spans: readonly Span[], isCounted: (span: Span) => boolean): number {
  return spans.reduce((ms, span) => (isCounted(span) ? ms + lengthOf(span) : ms), 0);
}

function shareOf(part: number, all: number): number | undefined {
  return all === 0 ? undefined : part / all;
}
