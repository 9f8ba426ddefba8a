import type { TimeRange } from "../journal/day-files.ts";
import type { KnownIncident } from "../../exporter/document/schema.ts";
import { windowDocument, windowFrom, type WindowDocument } from "../../exporter/maintenance/request.ts";
import { groupName, instantOf } from "../../exporter/judge/words.ts";
import { groupBy } from "../../support/group-by.ts";
import type { RangeHistory, SubjectHistory } from "./history.ts";
import {
  isKnown,
  joined,
  lengthOf,
  outagesIn,
  whole,
  type OutageSpan,
  type PartOfWhole,
  type Span,
} from "./spans.ts";

/** The milliseconds of a range of time in which something was up, down, and so on. Their sum is the whole range. */
export interface Figures {
  readonly upMs: number;
  readonly downMs: number;
  readonly unknownMs: number;
  /** The part of `unknownMs` in which the subject was watched, and nobody answered or no master was known. */
  readonly unansweredMs: number;
  /** The time in which the subject was down or unknown because of planned work on the whole cluster. */
  readonly plannedMs: number;
  /** The part of the known and unplanned time in which the subject was up, 0 to 1; absent if there is no such time. */
  readonly availability?: number | undefined;
  /** The availability if the time without an answer counts as down. */
  readonly availabilityAtLeast?: number | undefined;
  readonly outages: number;
  /** The known length of an outage on average; absent without outages. */
  readonly meanOutageMs?: number | undefined;
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
  /** The times of groups and websites without an answer, each as long as an outage would be listed: the longest one first. */
  readonly unanswered: readonly Outage[];
  /** The failovers, oldest first. */
  readonly failovers: readonly KnownIncident[];
  /** The windows of planned work that touch the range, oldest first. */
  readonly windows: readonly WindowDocument[];
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
  return {
    clusters: clusters.toSorted(worstFirst((one, other) => compare(one.name, other.name))),
    outages: longestOf(clusters.flatMap((each) => timesOf(each, outagesIn))),
    unanswered: longestOf(clusters.flatMap((each) => alikeOnce(timesOf(each, unansweredIn)))),
    failovers: [...history.failovers.values()].toSorted((one, other) => compare(one.begin, other.begin)),
    windows: Array.from(history.windows.values(), (record) => windowDocument(windowFrom(record))).toSorted(
      (one, other) => compare(one.begin, other.begin),
    ),
    leftOut: history.sources.reduce((count, { leftOut }) => count + leftOut, 0),
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
      worstFirst(
        (one, other) =>
          compare(one.vip, other.vip) ||
          one.vhid - other.vhid ||
          compare(one.interface ?? "", other.interface ?? ""),
      ),
    ),
    websites: websites.toSorted(
      worstFirst(
        (one, other) =>
          compare(one.name, other.name) || one.id - other.id || compare(one.protocol, other.protocol),
      ),
    ),
  };
}

function rowOf({ known, present }: PartOfWhole, range: TimeRange): AvailabilityRow {
  const downMs = sum(known, ({ band }) => band === "down");
  const plannedMs = sum(known, ({ band }) => band === "planned");
  const upMs = sum(known, ({ band }) => band === "up" || band === "impaired");
  const wholeMs = lengthOf(range);
  const unknownMs = wholeMs - upMs - downMs - plannedMs;
  const unansweredMs = sum(known, (span) => !isKnown(span));
  const outages = outagesIn(known);
  const presentToMs = present.reduce((latest, { toMs }) => Math.max(latest, toMs), range.fromMs);
  const first = known.find(isKnown);
  return {
    upMs,
    downMs,
    unknownMs,
    unansweredMs,
    plannedMs,
    availability: shareOf(upMs, upMs + downMs),
    availabilityAtLeast: shareOf(upMs, upMs + downMs + unansweredMs),
    outages: outages.length,
    meanOutageMs: outages.length === 0 ? undefined : downMs / outages.length,
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
  const isReplaced = protocol === "" && !member.known.some(isKnown) && others.some(isOther);
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

/** Orders rows by the part of the unplanned time in which they are known to be up, so that a row with much unknown time is not among the best. */
function worstFirst<Row extends Figures>(byName: (one: Row, other: Row) => number) {
  const surelyUp = ({ upMs, downMs, unknownMs }: Figures): number =>
    shareOf(upMs, upMs + downMs + unknownMs) ?? 0;
  return (one: Row, other: Row): number => surelyUp(one) - surelyUp(other) || byName(one, other);
}

interface TitledTime {
  readonly cluster: string;
  readonly subject: string;
  readonly span: OutageSpan;
}

function longestOf(times: readonly TitledTime[]): readonly Outage[] {
  const longest = times.toSorted((one, other) => other.span.downMs - one.span.downMs).slice(0, MAX_OUTAGES);
  return longest.map(({ cluster, subject, span }) => {
    const [from, to] = [instantOf(span.fromMs), instantOf(span.toMs)];
    return { cluster, subject, from, to, durationMs: span.downMs };
  });
}

/** Returns each time once: all groups and websites of a cluster that is dark have the same. */
function alikeOnce(times: readonly TitledTime[]): readonly TitledTime[] {
  const alike = groupBy(times, ({ span }) => `${span.fromMs} ${span.toMs}`);
  return Array.from(alike.values()).flatMap((own) => {
    const [first] = own;
    if (first === undefined) return [];
    const more = own.length - 1;
    return [more === 0 ? first : { ...first, subject: `${first.subject} and ${more} more` }];
  });
}

/** Returns the times in which nobody answered. Several exporters may know a part of one. */
function unansweredIn(spans: readonly Span[]): readonly OutageSpan[] {
  const own = joined(spans.filter((each) => !isKnown(each)));
  return own.map((span) => ({ fromMs: span.fromMs, toMs: span.toMs, downMs: lengthOf(span) }));
}

/** Returns such times of groups and websites. */
function timesOf(
  { name: cluster, groups, websites }: ClusterRow,
  timesIn: (spans: readonly Span[]) => readonly OutageSpan[],
): readonly TitledTime[] {
  const titled = [
    ...groups.map((row) => [groupName(row), row] as const),
    ...websites.map((row) => [websiteTitle(row), row] as const),
  ];
  return titled.flatMap(([subject, { spans }]) => timesIn(spans).map((span) => ({ cluster, subject, span })));
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
