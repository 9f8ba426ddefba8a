import { groupBy } from "../../../src/support/group-by.ts";

/**
 * How an appliance is. `dead`: switched off; `cut`: it runs without any network; `unseen`: only the exporter does not reach it; `parted`:
 * only the other members do not; `released`: it says BACKUP and leaves the group to others; `stopped`: it leaves the group, and its API answers with errors; `FAULT` and `absent`: it takes no part, and
 * says so; `refused` and `local`: it is well, and polls fail for these reasons.
 */
export type Condition =
  | "well"
  | "dead"
  | "cut"
  | "unseen"
  | "parted"
  | "released"
  | "stopped"
  | "FAULT"
  | "absent"
  | "refused"
  | "local";

/** What happens to a member at an instant: another condition, or another priority. */
export type Event = readonly [atMs: number, member: string, to: Condition | number];

export interface Member {
  readonly name: string;
  readonly priority: number;
  /** How long it waits after its return, until it takes over from a master of lower priority; infinite with `nopreempt`. */
  readonly preemptDelayMs: number;
}

/** What a member truly is, from an instant on. */
export interface Moment {
  readonly atMs: number;
  readonly state: "MASTER" | "BACKUP" | "FAULT" | "absent";
  readonly priority: number;
  readonly condition: Condition;
}
export type History = ReadonlyMap<string, readonly Moment[]>;

const LATENCY_MS = 10;
const ADVERT_MS = 1000;
const IS_HEARD = new Set<Condition>(["well", "unseen", "refused", "local"]);
const TAKES_PART = new Set<Condition>([...IS_HEARD, "cut", "parted"]);

interface Party extends Member {
  readonly state: Moment["state"];
  readonly condition: Condition;
  /** When it sends the next advert, or becomes MASTER. */
  readonly dueMs: number;
  readonly preemptsAtMs: number;
}

/** The members of one VRRP group as RFC 9568 has them, and keepalived; the first one is its master. */
export function simulated(members: readonly Member[], events: readonly Event[], lastsMs: number): History {
  const moments: (Moment & { readonly name: string })[] = [];
  let parties = members.map((each, nth) =>
    waiting({ ...each, ...NEW, state: "BACKUP" }, nth === 0 ? -4000 : 0),
  );
  for (let nowMs = 0; nowMs < lastsMs; nowMs = nextMs(parties, events, nowMs)) {
    const due = events.filter(([atMs]) => atMs === nowMs);
    for (const event of due) parties = afterEvent(parties, event, nowMs);
    for (const [nth] of parties.entries()) parties = afterDue(parties, nth, nowMs);
    for (const { name, state, priority, condition } of parties) {
      const last = moments.findLast((each) => each.name === name);
      if (last?.state !== state || last.priority !== priority || last.condition !== condition)
        moments.push({ name, atMs: nowMs, state, priority, condition });
    }
  }
  return groupBy(moments, ({ name }) => name);
}

/** The instant of the next event, advert or takeover. */
function nextMs(parties: readonly Party[], events: readonly Event[], nowMs: number): number {
  const due = parties.flatMap(({ condition, dueMs }) => (TAKES_PART.has(condition) ? dueMs : []));
  const later = events.flatMap(([atMs]) => (atMs > nowMs ? atMs : []));
  return Math.max(nowMs + 1, Math.min(...due, ...later));
}

const NEW = { condition: "well", dueMs: 0, preemptsAtMs: 0 } as const;

const skewMs = ({ priority }: Party): number => Math.round(((256 - priority) / 256) * ADVERT_MS);
const waiting = (party: Party, nowMs: number): Party => {
  return { ...party, state: "BACKUP", dueMs: nowMs + 3 * ADVERT_MS + skewMs(party) };
};

function afterEvent(parties: readonly Party[], [, name, to]: Event, nowMs: number): Party[] {
  const party = parties.find((each) => each.name === name);
  if (party === undefined || typeof to === "number")
    return parties.map((each) => (each === party ? { ...each, priority: Number(to) } : each));
  const { state, condition, preemptDelayMs } = party;
  const isBack = TAKES_PART.has(to) && !TAKES_PART.has(condition);
  const changed: Party = { ...party, condition: to };
  const out = to === "FAULT" || to === "absent" ? to : "BACKUP";
  const next: Party = isBack
    ? waiting({ ...changed, preemptsAtMs: nowMs + preemptDelayMs }, nowMs)
    : TAKES_PART.has(to)
      ? changed
      : { ...changed, state: out };
  const all = parties.map((each) => (each === party ? next : each));
  const saysGoodbye = state === "MASTER" && !TAKES_PART.has(to) && IS_HEARD.has(condition) && to !== "dead";
  return saysGoodbye ? all.map((each) => afterAdvert(each, next, 0, nowMs)) : all;
}

function afterDue(parties: Party[], nth: number, nowMs: number): Party[] {
  const party = parties[nth];
  if (party === undefined || !TAKES_PART.has(party.condition) || nowMs < party.dueMs) return parties;
  const master = { ...party, state: "MASTER", dueMs: nowMs + ADVERT_MS } as const;
  const all = parties.with(nth, master);
  if (!IS_HEARD.has(party.condition)) return all;
  return all.map((each) => afterAdvert(each, master, master.priority, nowMs));
}

function afterAdvert(party: Party, from: Party, priority: number, nowMs: number): Party {
  if (party.name === from.name || !IS_HEARD.has(party.condition)) return party;
  if (party.state === "MASTER")
    return priority > party.priority ? waiting(party, nowMs) : { ...party, dueMs: nowMs + LATENCY_MS };
  if (priority === 0) return { ...party, dueMs: nowMs + skewMs(party) };
  const isPatient = nowMs < party.preemptsAtMs || party.preemptDelayMs === Number.POSITIVE_INFINITY;
  return priority >= party.priority || isPatient ? waiting(party, nowMs) : party;
}

/** What a member is at an instant. */
export function momentAt(history: History, name: string, atMs: number): Moment | undefined {
  return history.get(name)?.findLast((moment) => moment.atMs <= atMs);
}

/** What a member was at some time between two instants. */
export function momentsIn(
  history: History,
  name: string,
  fromMs: number,
  untilMs: number,
): readonly Moment[] {
  const all = history.get(name) ?? [];
  return all.filter(({ atMs }, nth) => atMs <= untilMs && (all[nth + 1]?.atMs ?? Infinity) > fromMs);
}

const isMaster = (moment: Moment | undefined) => moment?.state === "MASTER" && IS_HEARD.has(moment.condition);

/** The times in which the other members, and so visitors, had a member as MASTER. */
export function masterSpans(history: History, name: string) {
  const all = history.get(name) ?? [];
  return all.flatMap((moment, nth) => {
    if (!isMaster(moment) || isMaster(all[nth - 1])) return [];
    const end = all.slice(nth).find((each) => !isMaster(each));
    return [{ fromMs: moment.atMs, untilMs: end?.atMs ?? Infinity }];
  });
}
