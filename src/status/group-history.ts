import { membersIn, type GroupSnapshot } from "../fleet/snapshot.ts";
import { groupState, type GroupState } from "./group-state.ts";
import type { FleetEvent } from "./schema.ts";
import { groupName, listed } from "./words.ts";

/** Since when something is so, Unix time in milliseconds. */
interface Since {
  readonly sinceMs: number;
  /** Whether it was so at the first sight, and may have been before. */
  readonly isSinceAtLeast: boolean;
}

interface Stand extends Since {
  readonly state: GroupState;
  /** The last one that was the only MASTER; `undefined` before the first. */
  readonly master: string | undefined;
}

/** What is remembered of a group from one look at it to the next. Immutable. */
export interface GroupMemory {
  readonly now: Stand;
  /** The last in which the masters were known; `undefined` before the first. */
  readonly known: Stand | undefined;
  /** The last that people were told of. */
  readonly told: Stand | undefined;
  /** Who were MASTER when that was last known, if they were several. */
  readonly splitBetween: readonly string[];
  /** Since when nobody backs the one MASTER; `undefined` while somebody does, or may. */
  readonly alone: Since | undefined;
  /** When the masters were last seen to be others than before, Unix time in milliseconds. */
  readonly changedAtMs: number | undefined;
}

export interface GroupStep {
  readonly memory: GroupMemory | undefined;
  /** `atMs`: Unix time in milliseconds. */
  readonly event: (Pick<FleetEvent, "kind" | "summary"> & { readonly atMs: number }) | undefined;
}

/** What a look at a group tells after all before it; of a group that is changing, nothing yet. */
export function lookAtGroup(before: GroupMemory | undefined, group: GroupSnapshot, atMs: number): GroupStep {
  const state = groupState(group, before?.splitBetween ?? []);
  if (state === "changing") return { memory: before, event: undefined };
  const [master = before?.now.master] = state === "one_master" ? membersIn(group, "master") : [];
  const seen = {
    ...remembered(before, { state, master }, atMs),
    splitBetween: splitBetween(before, state, group),
    alone: aloneSince(before, group, atMs),
  };
  // That nobody is known to be MASTER becomes an event only once a missed poll cannot be the reason.
  const isMissed = state === "unknown" && atMs - seen.now.sinceMs < group.missedForMs;
  if (isMissed && before !== undefined) return { memory: { ...seen, told: before.told }, event: undefined };
  const event = eventOf(before, seen.now, group) ?? redundancyEvent(before, seen, group);
  const toldAtMs = state === "unknown" ? seen.now.sinceMs : atMs;
  return { memory: { ...seen, told: seen.now }, event: event && { ...event, atMs: toldAtMs } };
}

/** An answer that was missed for a while changes no master: what was known before it is compared with what is known after it. */
function remembered(
  before: GroupMemory | undefined,
  seen: Seen,
  atMs: number,
): Pick<GroupMemory, "now" | "known" | "changedAtMs"> {
  if (seen.state === "unknown") {
    const now = advanced(before?.now, seen, atMs);
    return { now, known: before?.known, changedAtMs: before?.changedAtMs };
  }
  const now = advanced(before?.known, seen, atMs);
  const hasChanged = before?.known !== undefined && now !== before.known;
  return { now, known: now, changedAtMs: hasChanged ? atMs : before?.changedAtMs };
}

type Seen = Pick<Stand, "state" | "master">;

function advanced(before: Stand | undefined, { state, master }: Seen, atMs: number): Stand {
  const isSame = before?.state === state && before.master === master;
  return isSame ? before : { state, master, sinceMs: atMs, isSinceAtLeast: before === undefined };
}

function splitBetween(
  before: GroupMemory | undefined,
  state: GroupState,
  group: GroupSnapshot,
): readonly string[] {
  if (state === "unknown") return before?.splitBetween ?? [];
  return state === "split_brain" ? membersIn(group, "master") : [];
}

function aloneSince(before: GroupMemory | undefined, group: GroupSnapshot, atMs: number): Since | undefined {
  if (membersIn(group, "unknown").length > 0) return before?.alone;
  if (membersIn(group, "backup").length > 0) return undefined;
  return before?.alone ?? { sinceMs: atMs, isSinceAtLeast: before === undefined };
}

type Told = Pick<FleetEvent, "kind" | "summary">;

function eventOf(
  memory: GroupMemory | undefined,
  { state, master }: Seen,
  group: GroupSnapshot,
): Told | undefined {
  const before = memory?.told;
  const name = groupName(group);
  // A group whose master was not known before has found none again.
  if (memory?.known === undefined && state === "one_master") return undefined;
  if (state === "one_master") return mastersEvent(before, master ?? "", name);
  if (state === before?.state) return undefined;
  if (state === "split_brain") {
    const masters = listed(membersIn(group, "master"));
    return { kind: "outage", summary: `Split brain: ${masters} are MASTER of ${name}` };
  }
  if (state === "no_master") return { kind: "outage", summary: `Nobody is MASTER of ${name}` };
  // A group that was never known to have a master has lost none.
  if (before === undefined) return undefined;
  return { kind: "outage", summary: `Nobody is known to be MASTER of ${name}` };
}

function mastersEvent(before: Stand | undefined, master: string, name: string): Told | undefined {
  if (before === undefined) return undefined;
  const ended = before.state === "split_brain" ? "Split brain ended: " : "";
  if (before.master !== undefined && before.master !== master) {
    return { kind: "failover", summary: `${ended}${master} took over ${name} from ${before.master}` };
  }
  if (before.state === "one_master") return undefined;
  return { kind: "recovery", summary: `${ended}${master} is MASTER of ${name}` };
}

/** Who reports what is no BACKUP is told of by its interface. */
function redundancyEvent(
  before: GroupMemory | undefined,
  { now, alone }: Pick<GroupMemory, "now" | "alone">,
  group: GroupSnapshot,
): Told | undefined {
  if (before === undefined || now.state !== "one_master" || membersIn(group, "other").length > 0)
    return undefined;
  if ((before.alone === undefined) === (alone === undefined)) return undefined;
  return alone === undefined
    ? { kind: "recovery", summary: `${groupName(group)} has a BACKUP again` }
    : { kind: "outage", summary: `Nobody is BACKUP of ${groupName(group)} any more` };
}
