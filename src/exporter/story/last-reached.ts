import type { Answer, Answers, Hearing, PollTimes } from "../fleet/answers.ts";
import {
  membersIn,
  type ClusterSnapshot,
  type ClusterWebsite,
  type GroupSnapshot,
  type LastUp,
} from "../fleet/snapshot.ts";
import { groupsVisitedIn } from "../judge/masters.ts";
import type { ClusterVerdict } from "../judge/verdict.ts";
import type { LastReached } from "./incident.ts";

/** The tests of a website by an appliance, and what the appliance was heard of. Instants are monotonic. */
interface Tester extends Pick<Hearing, "polled" | "lostSinceMs"> {
  readonly appliance: string;
  readonly up: LastUp | undefined;
}

/** A time in which an appliance was MASTER of a group. */
interface Mastership {
  /** Whether it was MASTER in the first answer that is known. */
  readonly isFirst: boolean;
  /** The answers between which it was MASTER, the latest one before, and the first one after, with which it was not. */
  readonly fromMs: number;
  readonly untilMs: number;
  readonly beforeMs: number;
  readonly afterMs: number;
}

/** The instants at which visitors of one group last reached a website: at the earliest, and the ones around the loss as it most likely was. */
type Reached = Pick<LastReached, "sentMs"> & { readonly likelyMs: number; readonly untilMs: number };

/**
 * Returns when visitors last reached a website; `undefined` if nobody knows. What is certain is a test of a master that found the website
 * up, with an answer as MASTER before and after it: a test as BACKUP proves nothing, since a member may lose the website as it takes over.
 * Of several groups, the one that was reached least lately counts. Without groups, all appliances serve visitors.
 */
export function lastReached(
  website: ClusterWebsite,
  protocol: string,
  { now, nowMs }: { readonly now: ClusterVerdict; readonly nowMs: number },
): LastReached | undefined {
  const { facts, groups } = now;
  const testers = website.at.flatMap(({ member, test }) => testerOf(facts, member, test, protocol));
  const visited = groupsVisitedIn(groups)(website);
  const reached =
    groups.size === 0
      ? testers.flatMap((each) => reachedAlone(each, nowMs))
      : visited.flatMap((group) => reachedIn(group, testers, nowMs) ?? []);
  const [first] = reached.toSorted((one, other) => one.sentMs - other.sentMs);
  if (first === undefined) return undefined;
  const { sentMs, likelyMs, untilMs } = first;
  return { sentMs, aboutMs: (likelyMs + Math.max(likelyMs, untilMs)) / 2, knownMs: nowMs };
}

/**
 * Returns the end of the first test after `sinceMs` that shows that visitors reach a website again; `undefined` if none does yet. For each
 * group with a known master this is a test of the master that is certain; as long as there are several masters, one of each of them. Without
 * groups, all appliances serve visitors.
 */
export function reachedAgainMs(
  website: ClusterWebsite,
  protocol: string,
  { facts, groups }: ClusterVerdict,
  { sinceMs, nowMs }: { readonly sinceMs: number; readonly nowMs: number },
): number | undefined {
  if (groups.size === 0) return nowMs;
  const testers = website.at.flatMap(({ member, test }) => testerOf(facts, member, test, protocol));
  const ends = groupsVisitedIn(groups)(website).flatMap((group) => {
    const members = mastersIn(group, testers);
    const others = members.flatMap(({ isMaster, spans }) => (isMaster ? [] : spans));
    return members.flatMap(({ isMaster, tester, spans }) => {
      if (!isMaster || tester === undefined) return [];
      const later = tester.up?.tests.filter(({ endedMs }) => endedMs > sinceMs) ?? [];
      return later.find((each) => isCertain(each, spans, others))?.endedMs ?? Number.POSITIVE_INFINITY;
    });
  });
  const endMs = Math.max(...ends);
  return Number.isFinite(endMs) ? endMs : undefined;
}

function testerOf(
  { appliances }: ClusterSnapshot,
  member: number,
  test: number,
  protocol: string,
): readonly Tester[] {
  const tester = appliances[member];
  if (tester === undefined) return [];
  const { identity, websites, vrrp } = tester;
  const up = websites[test]?.lastUp.find((each) => each.protocol === protocol);
  const { polled, lostSinceMs } = vrrp;
  return [{ appliance: identity.appliance, up, polled, lostSinceMs }];
}

function reachedAlone({ up }: Tester, nowMs: number): readonly Reached[] {
  const sentMs = up?.tests.at(-1)?.sentMs;
  if (up === undefined || sentMs === undefined) return [];
  return [{ sentMs, likelyMs: sentMs, untilMs: Math.min(nowMs, up.doubtedMs) }];
}

function reachedIn(group: GroupSnapshot, testers: readonly Tester[], nowMs: number): Reached | undefined {
  const masters = mastersIn(group, testers);
  const served = masters.flatMap(({ tester, spans }) => {
    if (tester?.up === undefined) return [];
    const others = masters.flatMap((each) => (each.tester === tester ? [] : each.spans));
    const certain = tester.up.tests.findLast((each) => isCertain(each, spans, others));
    const likely = likelyIn(tester.up, spans);
    return [{ certain, likely, up: tester.up }];
  });
  const [latest] = served.toSorted(
    (one, other) => (other.certain?.sentMs ?? -Infinity) - (one.certain?.sentMs ?? -Infinity),
  );
  if (latest === undefined) return undefined;
  // Without a test between two answers of a master, each may have been one when it was MASTER last.
  const likely = served.flatMap((each) => each.likely?.likelyMs ?? []);
  const sentMs = latest.certain?.sentMs ?? Math.min(...likely);
  if (sentMs === Number.POSITIVE_INFINITY) return undefined;
  const likelyMs = Math.max(sentMs, latest.likely?.likelyMs ?? sentMs);
  const takenOver = masters.flatMap(({ spans }) => spans.flatMap(({ fromMs, afterMs }) => [fromMs, afterMs]));
  const ends = [nowMs, latest.up.doubtedMs, ...takenOver].filter((ms) => ms > likelyMs);
  return { sentMs, likelyMs, untilMs: Math.min(...ends) };
}

/** A member of a group: whether it is known to be MASTER, the times in which it was, and its tests of the website, if it makes any. */
interface Mastering {
  readonly isMaster: boolean;
  readonly spans: readonly Mastership[];
  readonly tester: Tester | undefined;
}

function mastersIn(group: GroupSnapshot, testers: readonly Tester[]): readonly Mastering[] {
  const known = membersIn(group, "master");
  return [...group.members, ...group.left].map(({ appliance, answers }) => {
    const tester = testers.find((each) => each.appliance === appliance);
    const isMaster = known.includes(appliance);
    return { isMaster, spans: mastershipsIn(answers, tester, isMaster), tester };
  });
}

/** Whether a member made a test as MASTER, by its answers before and after it, and none of the others may have been MASTER meanwhile. */
function isCertain(test: PollTimes, spans: readonly Mastership[], others: readonly Mastership[]): boolean {
  return spans.some((span) => isWithin(test, span)) && !others.some((span) => mayBeWithin(test, span));
}

/** Returns the times in which a member was MASTER. `isMaster`: it is known to be MASTER now. */
function mastershipsIn(
  answers: Answers,
  { polled, lostSinceMs }: Partial<Tester> = {},
  isMaster: boolean,
): readonly Mastership[] {
  const lastOf = (answer: Answer): PollTimes =>
    answer === answers.at(-1) ? (polled ?? answer.last) : answer.last;
  return answers.flatMap((answer, nth) => {
    if (answer.role !== "master" || continues(answer, answers[nth - 1])) return [];
    const length = answers.slice(nth + 1).findIndex((each, place) => !continues(each, answers[nth + place]));
    const end = length < 0 ? answers.length : nth + 1 + length;
    const [before, last, next] = [answers[nth - 1], answers[end - 1] ?? answer, answers[end]];
    const { sentMs: untilMs, endedMs } = lastOf(last);
    return [
      {
        isFirst: before === undefined,
        fromMs: answer.first.endedMs,
        untilMs,
        beforeMs: before === undefined ? answer.first.sentMs : lastOf(before).sentMs,
        // One that stopped answering served nobody from then on, whatever it says after its return.
        afterMs:
          next?.after?.lostSinceMs ??
          next?.first.endedMs ??
          (isMaster ? Number.POSITIVE_INFINITY : (lostSinceMs ?? endedMs)),
      },
    ];
  });
}

function continues({ role, after }: Answer, before: Answer | undefined): boolean {
  return role === "master" && before?.role === "master" && after === undefined;
}

/** Returns the latest instant at which a member was MASTER and, as far as the tests before and after it show, had the website. */
function likelyIn(
  { tests, sinceMs }: LastUp,
  spans: readonly Mastership[],
): { readonly likelyMs: number; readonly span: Mastership } | undefined {
  const sentMs = tests.at(-1)?.sentMs ?? sinceMs;
  const all = spans.flatMap((span) => {
    const likelyMs = Math.min(sentMs, span.untilMs);
    return likelyMs < sinceMs || (likelyMs < span.fromMs && !span.isFirst) ? [] : [{ likelyMs, span }];
  });
  return all.toSorted((one, other) => other.likelyMs - one.likelyMs)[0];
}

function isWithin({ sentMs, endedMs }: PollTimes, { fromMs, untilMs }: Mastership): boolean {
  return sentMs >= fromMs && endedMs <= untilMs;
}

function mayBeWithin({ sentMs, endedMs }: PollTimes, { beforeMs, afterMs }: Mastership): boolean {
  return endedMs > beforeMs && sentMs < afterMs;
}
