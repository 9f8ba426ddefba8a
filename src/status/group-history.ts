import { membersIn, type GroupSnapshot } from "../fleet/snapshot.ts";
import { groupState, type GroupState } from "./group-state.ts";
import type { FleetEvent } from "./schema.ts";
import { groupName, listed } from "./words.ts";

/** A state and since when it is; Unix time in milliseconds. */
interface Stand {
  readonly state: GroupState;
  /** The last one that was the only MASTER; `undefined` before the first. */
  readonly master: string | undefined;
  readonly sinceMs: number;
  /** Whether it was so at the first sight, and may have been before. */
  readonly isSinceAtLeast: boolean;
}

/** What is remembered of a group from one look at it to the next. Immutable. */
export interface GroupMemory {
  readonly now: Stand;
  /** The last in which the masters were known; `undefined` before the first. */
  readonly known: Stand | undefined;
  /** When the masters were last seen to be others than before, Unix time in milliseconds. */
  readonly changedAtMs: number | undefined;
}

export interface GroupStep {
  readonly memory: GroupMemory | undefined;
  readonly event: Pick<FleetEvent, "kind" | "summary"> | undefined;
}

/** What a look at a group tells after all before it; of a group that is changing, nothing yet. */
export function lookAtGroup(before: GroupMemory | undefined, group: GroupSnapshot, atMs: number): GroupStep {
  const state = groupState(group);
  if (state === "changing") return { memory: before, event: undefined };
  const [master = before?.now.master] = state === "one_master" ? membersIn(group, "master") : [];
  const memory = remembered(before, { state, master }, atMs);
  return { memory, event: eventOf(before, { state, master }, group) };
}

/** An answer that was missed for a while changes no master: what was known before it is compared with what is known after it. */
function remembered(before: GroupMemory | undefined, seen: Seen, atMs: number): GroupMemory {
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

function eventOf(
  memory: GroupMemory | undefined,
  { state, master }: Seen,
  group: GroupSnapshot,
): GroupStep["event"] {
  const before = memory?.now;
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

function mastersEvent(before: Stand | undefined, master: string, name: string): GroupStep["event"] {
  if (before === undefined) return undefined;
  const ended = before.state === "split_brain" ? "Split brain ended: " : "";
  if (before.master !== undefined && before.master !== master) {
    return { kind: "failover", summary: `${ended}${master} took over ${name} from ${before.master}` };
  }
  if (before.state === "one_master") return undefined;
  return { kind: "recovery", summary: `${ended}${master} is MASTER of ${name}` };
}
