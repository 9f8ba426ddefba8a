import { meaningOf } from "../api/failure.ts";
import { fellSilentAsMaster, type Answers, type Answer } from "../fleet/answers.ts";
import { lastPollOf, type Member } from "./member.ts";
import { ordersOf } from "./priority-order.ts";
import type { Cause } from "../judge/states.ts";

/** Why a member is MASTER in place of another one. */
export interface FailoverCause {
  readonly cause: Cause;
  /** The words about the former master, which follow its name: `, which stopped answering (timeout)`. */
  readonly clause: string;
  /** The same words apart from that name: `, as a stopped answering (timeout)`. */
  readonly clauseApart: string;
  /** The appliances' reports, oldest first; empty if the cause is not known. */
  readonly evidence: readonly Evidence[];
  /** The former master, unless the new one only preempted it; `undefined` also while that is not known. */
  readonly letsGo: string | undefined;
  /** Whether later evidence shows no more, as no poll was there. */
  readonly isFinal?: true;
}

export interface Evidence {
  readonly appliance: string;
  /** The report: `reported FAULT`. */
  readonly said: string;
  /** The instant at which the exporter learned of the report. */
  readonly atMs: number;
}

/** The longest time between a change and the instant at which the failover is seen. */
const BEFORE_MS = 30_000;
/** The longest time from the failover until a fault is reported. */
const AFTER_MS = 15_000;
/** If a time is no longer than this, its middle is right to a second. */
const SHORT_MS = 2_000;

/**
 * Returns the cause of a failover by the polls: the first of these that holds.
 *
 * - `fault`: near the failover, the former master reports neither MASTER nor BACKUP, or lacks the group.
 * - `silent`: as MASTER it stopped answering at most 30 s before the failover was seen, and did not answer since.
 * - `priority`: in these 30 s, while the former master was MASTER or later, the new one got the higher priority of the two.
 * - `preempted`: the new master has had the higher priority since a silence or a fault that ended its last time as MASTER, at most
 *   30 s ago; the former master answers all the time.
 * - `stepped_down`: the former master reports BACKUP.
 * - `unknown`: none of these holds. `former` is `undefined` for an appliance that is gone.
 */
export function causeOf(former: Member | undefined, successor: Member, seenAtMs: number): FailoverCause {
  if (former === undefined) return unknown();
  return (
    fault(former, seenAtMs) ??
    silence(former, seenAtMs) ??
    priorities(former, successor, seenAtMs) ??
    preemption(former, successor, seenAtMs) ??
    retreat(former) ??
    unknown(former)
  );
}

/** Returns a cause without evidence; `former` is a member that is not gone. */
export function unknown(former?: Member): FailoverCause {
  const clauseFor = (name: string): string => {
    const why = former?.reason === undefined ? "" : `, as ${name} cannot be polled (${former.reason})`;
    return `; why is not known${why}`;
  };
  const clauses = { clause: clauseFor("it"), clauseApart: clauseFor(former?.appliance ?? "") };
  return { cause: "unknown", ...clauses, evidence: [], letsGo: undefined };
}

/** Returns the clauses about a former master that has done something. */
function clausesAbout(former: string, did: string): Pick<FailoverCause, "clause" | "clauseApart"> {
  return { clause: `, which ${did}`, clauseApart: `, as ${former} ${did}` };
}

/** Returns a clause that is the same apart from the name of the former master. */
export function clausesOf(clause: string): Pick<FailoverCause, "clause" | "clauseApart"> {
  return { clause, clauseApart: clause };
}

/** The cause of a failover in a time in which nobody asked one of both members, since its schedule rested. */
export const UNWATCHED: FailoverCause = { ...unknown(), ...clausesOf(" while no poll was scheduled") };

/** Whether a failover may have been at any time of a rest, of the former master since it was seen as MASTER or of its successor before. */
export function wasUnwatched(
  former: Member | undefined,
  { answers }: Pick<Member, "answers">,
  seenAtMs: number,
): boolean {
  const asMaster = answers.find(({ first }) => first.endedMs === seenAtMs);
  const since = former === undefined ? [] : afterMaster(former.answers);
  const isResting = former?.reason === "not_scheduled";
  return isResting || [asMaster, ...since].some((answer) => answer?.after?.isUnwatched === true);
}

/** A time that lies between polls, in milliseconds. */
export interface Lasted {
  readonly atMostMs: number;
  /** The middle of the possible times; `undefined` if polls do not show when the time began. */
  readonly aboutMs: number | undefined;
}

/**
 * Returns how long no member of the group was MASTER. `atMostMs` is the time from the beginning of the latest poll that found the former
 * master as MASTER to the end of the first poll that found the new one. For `aboutMs`, a former master that stops answering is not MASTER
 * from then on, unless that was long before. A former master that refuses the exporter may be MASTER for as long as nobody else is.
 */
export function withoutMaster(
  former: Member | undefined,
  { answers, ...successor }: Member,
  seenAtMs: number,
): Lasted | undefined {
  const at = former?.answers.findLastIndex(({ role }) => role === "master") ?? -1;
  const latest = former?.answers[at];
  if (former === undefined || latest === undefined) return undefined;
  const { sentMs } = lastPollOf(former, latest);
  const atMostMs = Math.max(0, seenAtMs - sentMs);
  const next = former.answers[at + 1];
  const hasAnswered = next !== undefined && next.after === undefined;
  const lostMs = next === undefined ? former.lostSentMs : next.after?.lostSentMs;
  const goneMs = hasAnswered ? next.first.endedMs : (lostMs ?? seenAtMs);
  const before = answers[answers.findIndex(({ first }) => first.endedMs === seenAtMs) - 1];
  const lackedMs = before === undefined ? sentMs : lastPollOf({ answers, ...successor }, before).sentMs;
  const atLeastMs = Math.min(Math.max(0, lackedMs - goneMs), atMostMs);
  const isLost = lostMs !== undefined && lostMs >= seenAtMs - BEFORE_MS;
  const isKnown = hasAnswered || isLost || atMostMs <= SHORT_MS;
  return { atMostMs, aboutMs: isKnown ? (atLeastMs + atMostMs) / 2 : undefined };
}

function fault(former: Member, seenAtMs: number): FailoverCause | undefined {
  const { appliance, answers } = former;
  const untilMs = Math.min(evidenceUntilMs(former, seenAtMs), seenAtMs + AFTER_MS);
  const odd = afterMaster(answers).find((answer) => {
    const isNear =
      answer.first.sentMs <= untilMs && lastPollOf(former, answer).endedMs >= seenAtMs - BEFORE_MS;
    return isNear && isOutOfService(answer);
  });
  if (odd === undefined) return undefined;
  const said = wordsOf(odd);
  const evidence = [{ appliance, said, atMs: odd.first.endedMs }];
  return { cause: "fault", ...clausesAbout(appliance, said), evidence, letsGo: appliance };
}

/**
 * Returns the instant until which polls that begin show why a former master is none any more: that of the takeover, or of the poll after its
 * last answer MASTER, if that one has an answer. What it says later may follow from a restart.
 */
function evidenceUntilMs({ answers }: Member, seenAtMs: number): number {
  const [next] = afterMaster(answers);
  return next === undefined || next.after !== undefined ? seenAtMs : Math.max(seenAtMs, next.first.sentMs);
}

/** Returns a member's answers since it was last seen as MASTER. */
function afterMaster(answers: Answers): Answers {
  return answers.slice(answers.findLastIndex(({ role }) => role === "master") + 1);
}

function isOutOfService({ role }: Answer): boolean {
  return role === "other" || role === "absent";
}

function wordsOf({ role, state }: Answer): string {
  return role === "absent" ? "no longer listed the address" : `reported ${state}`;
}

function silence(former: Member, seenAtMs: number): FailoverCause | undefined {
  const { appliance, answers, lostSinceMs, reason } = former;
  if (lostSinceMs === undefined || lostSinceMs < seenAtMs - BEFORE_MS) return undefined;
  if (!fellSilentAsMaster(answers, former, seenAtMs)) return undefined;
  // An appliance that refuses the exporter answers.
  if (reason === undefined || meaningOf(reason).appliance !== "lost") return undefined;
  const said = `stopped answering (${reason})`;
  const evidence = [{ appliance, said, atMs: lostSinceMs }];
  return { cause: "silent", ...clausesAbout(appliance, said), evidence, letsGo: appliance };
}

function priorities(former: Member, successor: Member, seenAtMs: number): FailoverCause | undefined {
  // If the event came before the former master was MASTER, it did not end that.
  const sinceMs = Math.max(masterSinceMs(former.answers), seenAtMs - BEFORE_MS);
  const untilMs = evidenceUntilMs(former, seenAtMs);
  const orders = ordersOf(former, successor, sinceMs).filter(
    (order) => order.former.fromMs <= untilMs && order.successor.fromMs <= seenAtMs,
  );
  const at = orders.findLastIndex(({ isHigher }, nth) => isHigher && orders[nth - 1]?.isHigher === false);
  const [before, after] = [orders[at - 1], orders[at]];
  if (before === undefined || after === undefined) return undefined;
  const changes = [
    { member: former, from: before.former, to: after.former },
    { member: successor, from: before.successor, to: after.successor },
  ].filter(({ from, to }) => from.priority !== to.priority);
  const evidence = changes.map(({ member: { appliance }, from, to }) => {
    const said = `changed its priority from ${from.priority} to ${to.priority}`;
    return { appliance, said, atMs: to.learnedMs };
  });
  const words = changes.map(({ member: { appliance }, from, to }) => {
    return `the priority of ${appliance} changed from ${from.priority} to ${to.priority}`;
  });
  const hasFallen = before.former.priority !== after.former.priority;
  const letsGo = hasFallen ? former.appliance : undefined;
  return { cause: "priority", ...clausesOf(`, as ${words.join(" and ")}`), evidence, letsGo };
}

/** Returns the instant at which a member was first found as MASTER in its latest time as such. */
function masterSinceMs(answers: Answers): number {
  const last = answers.findLastIndex(({ isMaster }) => isMaster);
  const first = answers.slice(0, last).findLastIndex(({ isMaster }) => !isMaster) + 1;
  return answers[first]?.first.sentMs ?? Number.NEGATIVE_INFINITY;
}

function preemption(former: Member, successor: Member, seenAtMs: number): FailoverCause | undefined {
  const { answers, appliance } = successor;
  const [mine, others] = [answers.at(-1)?.priority, former.answers.at(-1)?.priority];
  if (mine === undefined || others === undefined || mine <= others) return undefined;
  // A former master that could not be polled may have restarted.
  if (former.reason !== undefined || afterMaster(former.answers).some(({ after }) => after !== undefined))
    return undefined;
  const now = answers.findIndex(({ first }) => first.endedMs === seenAtMs);
  const last = answers.slice(0, now).findLastIndex(({ role }) => role === "master");
  const wait = answers.slice(last + 1, now + 1);
  const at = wait.findIndex((answer) => answer.after?.lostSinceMs !== undefined || isOutOfService(answer));
  const [answer, waited] = [wait[at], wait[0]];
  if (answer === undefined || waited === undefined) return undefined;
  // If the priority changed after the return, that is another reason.
  if (wait.slice(at).some((each) => !isOutOfService(each) && each.priority !== mine)) return undefined;
  const { lostSinceMs } = answer.after ?? {};
  const beganMs = lostSinceMs ?? answer.first.sentMs;
  // A member that was BACKUP for longer beside a master of lower priority does not preempt.
  if (beganMs - waited.first.sentMs > BEFORE_MS) return undefined;
  const endedMs = isOutOfService(answer) ? lastPollOf(successor, answer).endedMs : answer.first.endedMs;
  // Later, the former master may have let go, beside a member under `nopreempt`.
  if (seenAtMs - endedMs > BEFORE_MS) return undefined;
  const said = isOutOfService(answer) ? wordsOf(answer) : "answered again";
  const evidence = [
    { appliance, said, atMs: answer.first.endedMs },
    {
      appliance,
      said: `reported the priority ${mine}, above ${others} of ${former.appliance}`,
      atMs: seenAtMs,
    },
  ];
  const why = isOutOfService(answer) ? wordsOf(answer) : "did not answer";
  return {
    cause: "preempted",
    ...clausesOf(`; ${appliance} has the higher priority, and ${why} before`),
    evidence,
    letsGo: undefined,
  };
}

function retreat({ appliance, answers }: Member): FailoverCause | undefined {
  const later = afterMaster(answers);
  const answer = later.find(({ role }) => role === "backup");
  if (answer === undefined || later.some(isOutOfService)) return undefined;
  const evidence = [{ appliance, said: "reported BACKUP", atMs: answer.first.endedMs }];
  const wasAway = later.slice(0, later.indexOf(answer) + 1).some(({ after }) => after !== undefined);
  // Nobody knows what happened meanwhile, a restart for example.
  const did = wasAway ? "reported BACKUP when it could be polled again" : "stepped down";
  return { cause: "stepped_down", ...clausesAbout(appliance, did), evidence, letsGo: appliance };
}
