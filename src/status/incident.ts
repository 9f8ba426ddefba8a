import type { ClusterSnapshot } from "../fleet/snapshot.ts";
import type { Instant } from "../support/clock.ts";
import { shortHash } from "../support/short-hash.ts";
import type { Words } from "../support/text.ts";
import type { Finding, Lasted } from "./failover-cause.ts";
import type { KnownIncident } from "./schema.ts";
import type { Cause, IncidentKind } from "./states.ts";

/** Something that happened to groups, websites or appliances of a cluster: a failover, or trouble with its start and end. */
export interface Incident {
  /** Unique in the fleet. */
  readonly id: string;
  readonly kind: IncidentKind;
  readonly cluster: string;
  readonly begin: Instant;
  /** `undefined` while it is not over. */
  readonly end: Instant | undefined;
  /** Monotonic: once the incident is over, the middle between the last two polls. */
  readonly endAboutMs?: number;
  /** Monotonic: when the exporter first reported it, or its latest switch; others join it for ten seconds. */
  readonly toldMs: number;
  /** In front of and behind the names of the subjects; of a failover, they follow from what is known of it. */
  readonly words: Words;
  readonly subjects: readonly Subject[];
  /** The keys of the subjects that are still in trouble. */
  readonly open: ReadonlySet<string>;
  readonly failover: Failover | undefined;
  /** The document of an earlier run of the exporter, while nothing but its end has changed since. */
  readonly restored?: KnownIncident | undefined;
}

export interface Failover {
  /** The only switch, or the latest. */
  readonly latest: Switch;
  /** Holds the keys of the groups of all switches. */
  readonly groups: ReadonlySet<string>;
  /** Whether the former master remains MASTER of other groups. */
  readonly isPartial: boolean;
  /** How many VIPs and aliases. */
  readonly addresses: number;
  readonly repeated: Repeated | undefined;
}

/** Two members take over from each other again and again. */
export interface Repeated {
  readonly count: number;
  /** Monotonic. */
  readonly firstMs: number;
  /** How often each member let go. */
  readonly letGo: Readonly<Record<string, number>>;
  /** The incident that the second switch was until the third one came. */
  readonly includes: string;
}

/** A switch whose cause is not known yet. */
export interface Undecided {
  readonly incident: string;
  readonly latest: Switch;
  /** The monotonic instant until which evidence counts. */
  readonly untilMs: number;
}

/** Holds what happens to a cluster. */
export interface ClusterIncidents extends Pick<ClusterSnapshot, "cluster" | "labels"> {
  readonly kind: "incidents";
  /** Holds the incidents that are not over, and the failovers of the last five minutes; oldest first. */
  readonly all: readonly Incident[];
  /** Holds the incidents that the latest step began, changed or ended. */
  readonly news: readonly Incident[];
  /** The failovers of the last five minutes. */
  readonly recent: readonly Incident[];
  readonly undecided: readonly Undecided[];
  /** Counts by cause, once that is decided; `undefined` for an appliance that stands alone. */
  readonly failovers: Readonly<Record<Cause, number>> | undefined;
  readonly lastFailoverAt: Instant | undefined;
  /** The monotonic instant at which time alone changes something; infinite if it does not. */
  readonly untilMs: number;
}

/** Says what an incident is about: a group, a website by one protocol, an appliance, an interface or the cluster. */
export interface Subject {
  /** Unique in the cluster. */
  readonly key: string;
  readonly name: string;
  /** A website has this: host and port, and the protocol. */
  readonly website?: { readonly address: string; readonly protocol: string };
  /** A website may have this: when visitors last reached it, at the earliest and about, in monotonic time. */
  readonly lastUp?: { readonly sentMs: number; readonly aboutMs: number } | undefined;
}

/** Groups that one member took over from another one at about the same time. Instants are monotonic. */
export interface Switch extends Finding {
  readonly from: string;
  readonly to: string;
  /** When the exporter learned that the first of the groups has another master. */
  readonly seenMs: number;
  /** By `groupKey`, when that was learned of each. */
  readonly groups: ReadonlyMap<string, number>;
  /** `undefined` where the exporter never saw the former master as MASTER. */
  readonly withoutMaster: Lasted | undefined;
  /** Whether it happened before the exporter started: no poll can say why. */
  readonly wasAway?: boolean;
}

/** Subjects to which the same happens within this time are one incident. */
export const TOGETHER_MS = 10_000;
/** While so many troubles of a cluster are not over, others are only problems; of so many failovers, the oldest are forgotten. */
export const MAX_OPEN = 64;

/** An incident that begins; `what.subjects`: not empty. */
export function begun(
  kind: IncidentKind,
  begin: Instant,
  cluster: string,
  what: Pick<Incident, "subjects"> & Partial<Incident>,
): Incident {
  const id = shortHash([cluster, kind, begin.wallMs, what.subjects[0]?.key]);
  const toldMs = begin.monotonicMs;
  const none = { end: undefined, words: ["", ""], open: new Set<string>(), failover: undefined } as const;
  return { id, kind, cluster, begin, toldMs, ...none, ...what };
}
