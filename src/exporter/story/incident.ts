import type { ClusterSnapshot } from "../fleet/snapshot.ts";
import type { Instant } from "../../support/clock.ts";
import { shortHash } from "../../support/short-hash.ts";
import { wording, type CountedWords } from "../../support/text.ts";
import type { FailoverCause, Lasted } from "./failover-cause.ts";
import type { KnownIncident } from "../document/schema.ts";
import type { Cause, IncidentKind } from "../judge/states.ts";
import type { Muted } from "../judge/verdict.ts";

/** An event of groups, websites or appliances of a cluster: a failover, or trouble with its start and end. */
export interface Incident {
  /** The id, unique in the fleet. */
  readonly id: string;
  readonly kind: IncidentKind;
  readonly cluster: string;
  readonly begin: Instant;
  /** The end; `undefined` while the incident is not over. */
  readonly end: Instant | undefined;
  /** The monotonic instant at which the exporter first reported the incident, or its latest failover; other subjects join for a time. @see togetherMs */
  readonly reportedMs: number;
  /** The words around the names of the subjects. The words about a failover follow from its facts. */
  readonly words: IncidentWords;
  readonly subjects: readonly IncidentSubject[];
  /** The keys of the subjects that are still in trouble. */
  readonly open: ReadonlySet<string>;
  readonly failover: FailoverFacts | undefined;
  /** Whether the problem about the same is planned, or the failover. What is over stays as it was. */
  readonly isPlanned: boolean;
  /** The document of an earlier run of the exporter, while nothing but its end has changed since. */
  readonly restored?: KnownIncident | undefined;
}

export interface IncidentWords extends CountedWords {
  /** The rank of the words: the worse of two about one kind stay. Default: 0. */
  readonly badness?: number;
}

/** The failover of an incident, or the failovers there and back between two members. */
export interface FailoverFacts {
  /** The only failover, or the latest one. */
  readonly latest: Failover;
  /** The keys of the groups of all failovers. */
  readonly groups: ReadonlySet<string>;
  readonly repeated: Repeated | undefined;
  /** The recent failover of these groups in the other direction, if this one is its way back. */
  readonly returns?: Return | undefined;
}

/** A failover whose groups have come back: the Unix time at which it was seen, and the keys of its groups. */
export interface Return {
  readonly seenWallMs: number;
  readonly groups: ReadonlySet<string>;
}

/** Repeated failovers, in which two members take over from each other again and again. */
export interface Repeated {
  readonly count: number;
  /** The monotonic instant of the first failover. */
  readonly firstMs: number;
  /** The number of times that each member let go. */
  readonly letGo: Readonly<Record<string, number>>;
  /** The number of those before the latest that followed from planned work. */
  readonly plannedBefore: number;
  /** The id of the incident that the second failover was until the third one came. */
  readonly includes: string;
  /** The latest failovers, oldest first, each with the Unix time at which it was seen; at most eight. */
  readonly each: readonly { readonly failover: Failover; readonly seenWallMs: number }[];
}

/** A failover of whose causes one is not known yet. */
export interface Undecided {
  readonly incident: string;
  readonly latest: Failover;
  /** Whether the failover is counted, by the first of its causes that was known. */
  readonly isCounted: boolean;
  /** The monotonic instant until which evidence counts. */
  readonly untilMs: number;
}

/** The incidents of a cluster. */
export interface ClusterIncidents extends Pick<ClusterSnapshot, "cluster" | "labels"> {
  readonly kind: "incidents";
  /** The incidents that are not over, and the failovers of the last five minutes; oldest first. */
  readonly all: readonly Incident[];
  /** The incidents that the latest step began, changed or ended. */
  readonly news: readonly Incident[];
  /** The failovers of the last five minutes. */
  readonly recent: readonly Incident[];
  readonly undecided: readonly Undecided[];
  /** The counts of failovers by cause, once the cause is decided; `undefined` for an appliance that stands alone. */
  readonly failovers: Readonly<Record<Cause, number>> | undefined;
  readonly lastFailoverAt: Instant | undefined;
  /** The alerts about failovers that windows mute. */
  readonly muted: readonly Muted[];
  /** The monotonic instant at which time alone changes something; infinite if time alone changes nothing. */
  readonly untilMs: number;
}

/** The subject of an incident: a group, a website by one protocol, an appliance, an interface or the cluster. */
export interface IncidentSubject {
  /** The key, unique in the cluster. */
  readonly key: string;
  readonly name: string;
  /** The addresses of a group that the new master has, each as a text that is equal for the same host. @see hostAt */
  readonly hosts?: readonly string[];
  /** The host and port, and the protocol, of a website. */
  readonly website?: { readonly address: string; readonly protocol: string };
  /** The last time that visitors reached a website. */
  readonly lastUp?: LastReached | undefined;
  /** The Unix time at which the exporter learned of a website's trouble. */
  readonly beganMs?: number;
  /** The end of a website's outage, as long as no test has shown that visitors reach it again. */
  readonly recovered?: OutageEnd | undefined;
  /** The end of a website's trouble, once it is over, also while other websites keep the incident open. */
  readonly over?: OutageEnd & {
    /** The monotonic instant at which a test has shown that visitors reach it again. */
    readonly reachedMs: number;
  };
}

/** When the exporter learned that a website is not down any more, and about when that was so; the latter is monotonic. */
export interface OutageEnd {
  readonly end: Instant;
  readonly aboutMs: number;
}

/** The instants at which visitors last reached a website, at the earliest and about, and at which that was known. They are monotonic. */
export interface LastReached {
  readonly sentMs: number;
  readonly aboutMs: number;
  readonly knownMs: number;
}

/** A cause of a failover, and the groups of which it is the cause, by `groupKey`. */
export interface GroupsCause extends FailoverCause {
  readonly groups: ReadonlySet<string>;
}

/** The causes of a failover, each clause once. The first one is that of the failover, once it is known. */
export type Causes = readonly [GroupsCause, ...GroupsCause[]];

/** The groups that one member took over from another one at about the same time. Instants are monotonic. */
export interface Failover {
  readonly from: string;
  readonly to: string;
  /** The instant at which the exporter learned that the first of the groups has another master. */
  readonly seenMs: number;
  /** The instant at which the exporter learned this of each group, by `groupKey`. */
  readonly groups: ReadonlyMap<string, number>;
  readonly causes: Causes;
  /** Whether the former master remains MASTER of other groups, and did not become MASTER of them at the same time. */
  readonly isPartial: boolean;
  /** The time without a master; `undefined` if the exporter never saw the former master as MASTER. */
  readonly withoutMaster: Lasted | undefined;
}

/** Subjects with equal events within this time are one incident. */
export const TOGETHER_MS = 10_000;
/** Websites that go down for one reason are found down within this time, since each is tested every 30 seconds. */
const WEBSITES_TOGETHER_MS = 60_000;
/**
 * The limit of a cluster's incidents. While this many troubles are not over, others are only problems. Beyond this many failovers, the
 * oldest are forgotten.
 */
export const MAX_OPEN = 64;

/** Whether a subject is in an incident of a kind that is not over. */
export function isIn(all: readonly Incident[], kind: IncidentKind | undefined, key: string): boolean {
  return all.some((each) => each.kind === kind && each.open.has(key));
}

/** Whether an incident is about websites. */
export function isOfWebsites(kind: IncidentKind): boolean {
  return kind.startsWith("website_");
}

/** Whether an incident is about interfaces. */
export function isOfInterfaces(kind: IncidentKind): boolean {
  return kind === "odd_state" || kind === "not_serving";
}

/** Returns the time from the beginning of an incident in which others with the same trouble join its first subject. */
export function togetherMs(kind: IncidentKind): number {
  return isOfWebsites(kind) ? WEBSITES_TOGETHER_MS : TOGETHER_MS;
}

/** Returns an incident that begins; `what.subjects` is not empty. */
export function begun(
  kind: IncidentKind,
  begin: Instant,
  cluster: string,
  what: Pick<Incident, "subjects"> & Partial<Incident>,
): Incident {
  const id = shortHash([cluster, kind, begin.wallMs, what.subjects[0]?.key]);
  const reportedMs = begin.monotonicMs;
  const none = {
    end: undefined,
    words: wording(["", ""]),
    open: new Set<string>(),
    failover: undefined,
    isPlanned: false,
  };
  return { id, kind, cluster, begin, reportedMs, ...none, ...what };
}
