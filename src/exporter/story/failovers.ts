import { masterSeenMs } from "../fleet/answers.ts";
import { answersIn, type GroupSnapshot } from "../fleet/snapshot.ts";
import type { Instant } from "../../support/clock.ts";
import { groupBy } from "../../support/group-by.ts";
import {
  causeOf,
  clausesOf,
  unknown,
  UNWATCHED,
  wasUnwatched,
  withoutMaster,
  type FailoverCause,
  type Lasted,
} from "./failover-cause.ts";
import type { Causes, Failover, GroupsCause } from "./incident.ts";
import type { Member } from "./member.ts";
import { isEmpty, type Earlier, type Start } from "../judge/memory.ts";
import { CAUSES } from "../judge/states.ts";
import { subjectKeys } from "../judge/subjects.ts";
import type { ClusterVerdict, GroupVerdict } from "../judge/verdict.ts";

export type JudgedGroups = Pick<ClusterVerdict, "facts" | "groups">;

/** Returns the failovers between two verdicts on a cluster. The end of a split brain is no failover, nor is another name of a member. */
export function failoversBetween({
  before,
  now,
  at: { monotonicMs: nowMs },
  start,
}: {
  readonly before: JudgedGroups | undefined;
  readonly now: JudgedGroups;
  readonly at: Instant;
  readonly start: Start | undefined;
}): readonly Failover[] {
  const memory = start?.memory;
  if (isEmpty(memory) && (before === undefined || before.groups === now.groups)) return [];
  const members = new Set(now.facts.appliances.map(({ identity }) => identity.appliance));
  const oldOf = (key: string): Earlier | undefined =>
    memory?.get(subjectKeys.group(key)) ?? before?.groups.get(key);
  const moved = [...now.groups].flatMap(([key, group]) => {
    const old = oldOf(key);
    const { latestMaster: from = "" } = old ?? {};
    return old !== undefined && members.has(from) && isTakenOver(old, group) ? [{ key, from, group }] : [];
  });
  const alike = groupBy(moved, ({ from, group }) => JSON.stringify([from, group.master]));
  return [...alike.values()].map((all) => {
    const [{ from, group } = { from: "", group: undefined }] = all;
    const seen = all.map(({ key, group: { facts, master } }) => [key, seenIn(facts, master, nowMs)] as const);
    const isPartial = [...now.groups].some(([key, each]) => isKept(from, each, oldOf(key), group?.facts));
    const one = { from, to: group?.master ?? "", groups: new Map(seen), isPartial };
    const wasSeen = ({ facts }: GroupVerdict): boolean => wasMaster(from, facts) || wasOther(one.to, facts);
    const wasAway = start !== undefined && all.every(({ group: each }) => !wasSeen(each));
    const failover = judged(one, now);
    return wasAway ? { ...failover, causes: [{ ...AWAY, groups: new Set(one.groups.keys()) }] } : failover;
  });
}

function isTakenOver(old: Earlier, { master, latestMaster: now }: GroupVerdict): boolean {
  const { latestMaster, trouble } = old;
  return now === master && latestMaster !== undefined && latestMaster !== master && trouble !== "split_brain";
}

/** Whether the former master of a group that moved is still MASTER of another one, of which it was MASTER as well until then. */
function isKept(
  from: string,
  { facts, master, latestMaster }: GroupVerdict,
  old: Earlier | undefined,
  moved: GroupSnapshot | undefined,
): boolean {
  if (master !== from || latestMaster !== from || old?.latestMaster !== from) return false;
  const last = moved && answersIn(moved, from).findLast(({ isMaster }) => isMaster)?.last;
  if (last === undefined) return true;
  return answersIn(facts, from).findLast(({ first }) => first.endedMs <= last.endedMs)?.isMaster !== false;
}

/** Whether the exporter has seen an appliance as MASTER of a group since the exporter started. */
function wasMaster(name: string, group: GroupSnapshot): boolean {
  return answersIn(group, name).some(({ isMaster }) => isMaster);
}

/** Whether the exporter has seen an appliance as something else than MASTER of a group since the exporter started. */
function wasOther(name: string, { members }: GroupSnapshot): boolean {
  const member = members.find(({ appliance }) => appliance === name);
  return member?.answers.some(({ isMaster }) => !isMaster) === true;
}

const AWAY: FailoverCause = { ...unknown(), ...clausesOf(" while the exporter was away"), isFinal: true };
const NONE: GroupsCause = { ...unknown(), groups: new Set() };

function seenIn(group: GroupSnapshot, master: string | undefined, nowMs: number): number {
  return masterSeenMs(answersIn(group, master ?? "")) ?? nowMs;
}

/** One group of which another member became MASTER. */
interface MasterChange {
  readonly key: string;
  readonly former: Pick<Member, "appliance" | "answers"> | undefined;
  readonly successor: Pick<Member, "appliance" | "answers"> | undefined;
  readonly seenMs: number;
}

/**
 * Returns a failover by the facts now: the causes of its groups, the first one by `CAUSES` first, and the longest time of all without a
 * master.
 */
function judged(one: Omit<Failover, "seenMs" | "causes" | "withoutMaster">, now: JudgedGroups): Failover {
  const found = foundOn(one, now);
  return {
    ...one,
    seenMs: Math.min(...one.groups.values()),
    causes: causesIn(found.map(({ cause }) => cause).toSorted(byOrder)),
    withoutMaster: longest(found.map(({ lasted }) => lasted)),
  };
}

/** Returns what the facts show now of each group; groups in a row that are alike are judged once. */
function foundOn(
  { from, to, groups }: Pick<Failover, "from" | "to" | "groups">,
  now: JudgedGroups,
): readonly { readonly cause: GroupsCause; readonly lasted: Lasted | undefined }[] {
  const cases = [...groups].map(([key, seenMs]): MasterChange => {
    const { members = [], left = [] } = now.groups.get(key)?.facts ?? {};
    const [former, successor] = [from, to].map((name) =>
      [...members, ...left].find(({ appliance }) => appliance === name),
    );
    return { key, former, successor, seenMs };
  });
  const firsts = [...cases.keys()].filter((nth) => !isAlike(cases[nth], cases[nth - 1]));
  return firsts.flatMap((first, nth) => {
    const alike = cases.slice(first, firsts[nth + 1]);
    const [one] = alike;
    const keys = new Set(alike.map(({ key }) => key));
    return one === undefined ? [] : [foundIn(one, keys, now)];
  });
}

function foundIn(
  { former, successor, seenMs }: MasterChange,
  groups: ReadonlySet<string>,
  now: JudgedGroups,
): { readonly cause: GroupsCause; readonly lasted: Lasted | undefined } {
  const oldMember = former && memberOf(former, now);
  const newMember = successor && memberOf(successor, now);
  if (newMember === undefined) return { cause: { ...unknown(), groups }, lasted: undefined };
  if (wasUnwatched(oldMember, newMember, seenMs))
    return { cause: { ...UNWATCHED, groups }, lasted: undefined };
  return {
    cause: { ...causeOf(oldMember, newMember, seenMs), groups },
    lasted: withoutMaster(oldMember, newMember, seenMs),
  };
}

function byOrder(one: FailoverCause, other: FailoverCause): number {
  return CAUSES.indexOf(one.cause) - CAUSES.indexOf(other.cause);
}

/** Returns the causes in their order, those with the same clause as one, and those that are not known yet last. */
function causesIn(all: readonly GroupsCause[]): Causes {
  const knownFirst = [...all.filter((each) => !isOpen(each)), ...all.filter(isOpen)];
  const alike = groupBy(knownFirst, ({ clause }) => clause);
  const [first = NONE, ...others] = Array.from(alike.values(), asOne);
  return [first, ...others];
}

/** Returns one cause of all groups that have the same. */
function asOne(all: readonly GroupsCause[]): GroupsCause {
  const [first = NONE] = all;
  const groups = new Set(all.flatMap((each) => [...each.groups]));
  return { ...first, groups, evidence: all.flatMap(({ evidence }) => evidence) };
}

function longest(all: readonly (Lasted | undefined)[]): Lasted | undefined {
  return all.flatMap((each) => each ?? []).toSorted((one, other) => other.atMostMs - one.atMostMs)[0];
}

/** Whether two changes are alike. Most groups that fail over together have equal answers, and are judged once. */
function isAlike(one: MasterChange | undefined, other: MasterChange | undefined): boolean {
  return (
    one?.seenMs === other?.seenMs &&
    one?.former?.answers === other?.former?.answers &&
    one?.successor?.answers === other?.successor?.answers
  );
}

function memberOf(
  { appliance, answers }: Pick<Member, "appliance" | "answers">,
  { facts }: JudgedGroups,
): Member {
  const { vrrp } = facts.appliances.find(({ identity }) => identity.appliance === appliance) ?? {};
  const { polled, heardMs, lostSinceMs, lostSentMs, health } = vrrp ?? {};
  return { appliance, answers, polled, heardMs, lostSinceMs, lostSentMs, reason: health?.failure?.reason };
}

/** Returns one failover of the groups of both. The first cause stays, once it is known. */
export function together(one: Failover, other: Failover): Failover {
  return {
    ...one,
    groups: new Map([...one.groups, ...other.groups]),
    causes: causesIn([...one.causes, ...other.causes]),
    isPartial: one.isPartial && other.isPartial,
    withoutMaster: longest([one.withoutMaster, other.withoutMaster]),
  };
}

/** Whether later evidence may still show a cause. */
export function isOpen({ cause, isFinal }: FailoverCause): boolean {
  return cause === "unknown" && isFinal !== true;
}

/** Returns a failover with the causes that the facts show by now of groups whose cause was not known: the same object if they show none. */
export function reconsidered(one: Failover, now: JudgedGroups): Failover {
  const known = one.causes.filter((each) => !isOpen(each));
  const found = one.causes.filter(isOpen).flatMap((each) => {
    const groups = new Map([...one.groups].filter(([key]) => each.groups.has(key)));
    return foundOn({ ...one, groups }, now).map(({ cause }) =>
      isOpen(cause) ? { ...each, groups: cause.groups } : cause,
    );
  });
  return found.every(isOpen) ? one : { ...one, causes: causesIn([...known, ...found.toSorted(byOrder)]) };
}
