import { membersIn, type GroupSnapshot } from "../fleet/snapshot.ts";
import { groupState, type GroupState } from "./group-state.ts";
import type { FleetEvent } from "./schema.ts";
import { groupName, listed } from "./words.ts";

/** What is remembered of a group from one look at it to the next. Immutable. */
export interface GroupMemory {
  readonly state: GroupState;
  /** The last one that was the only MASTER; `undefined` before the first. */
  readonly master: string | undefined;
  /** When state or master changed last, Unix time in milliseconds; `undefined` before the first change. */
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
  const [master = before?.master] = state === "one_master" ? membersIn(group, "master") : [];
  const hasChanged = before !== undefined && (before.state !== state || before.master !== master);
  return {
    memory: { state, master, changedAtMs: hasChanged ? atMs : before?.changedAtMs },
    event: eventOf(before, { state, master }, group),
  };
}

function eventOf(
  before: GroupMemory | undefined,
  { state, master }: Pick<GroupMemory, "state" | "master">,
  group: GroupSnapshot,
): GroupStep["event"] {
  const name = groupName(group);
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

function mastersEvent(before: GroupMemory | undefined, master: string, name: string): GroupStep["event"] {
  if (before === undefined) return undefined;
  const ended = before.state === "split_brain" ? "Split brain ended: " : "";
  if (before.master !== undefined && before.master !== master) {
    return { kind: "failover", summary: `${ended}${master} took over ${name} from ${before.master}` };
  }
  if (before.state === "one_master") return undefined;
  return { kind: "recovery", summary: `${ended}${master} is MASTER of ${name}` };
}
