import type { Clock } from "../support/clock.ts";

/** The fleet's slots for website tests, shared fairly between appliances. */
export interface Slots {
  /** Sets the number of slots of the fleet; at least 1. */
  setLimit(limit: number): void;
  /** `limit`: the maximum number of slots that the appliance may hold, at least 1. */
  forAppliance(limit: number): ApplianceSlots;
}

export interface ApplianceSlots {
  /** Applies from the next slot on. */
  setLimit(limit: number): void;
  /**
   * Waits for a slot. Resolves to `slot`, which must be released, or, at the end of the wait, to the limit that was
   * reached: the fleet's or the appliance's. Never rejects.
   */
  take(wait: Wait): Promise<"slot" | ShortOf>;
  /** Gives back a slot. */
  release(): void;
  /** Ends every wait. */
  close(): void;
}

export type ShortOf = "fleet" | "appliance";

/** Monotonic instants. */
export interface Wait {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** An appliance. */
interface Member {
  /** How many slots it holds, and how many it may hold. */
  held: number;
  limit: number;
  /** Start of its longest wait, or when it last got or released a slot, if that is later. */
  waitingSinceMs: number;
  /** When it last got or released a slot. */
  servedMs: number;
  /** Longest wait first. */
  readonly waits: Waiting[];
}

interface Waiting {
  readonly sinceMs: number;
  readonly end: (hasSlot: boolean) => void;
}

/**
 * The appliance that gets a free slot: of those below their limit, the one with the fewest slots; among equals, the one
 * that has waited longest; then the first. If there are several slots, no appliance gets all of them, so that one
 * appliance never blocks the others.
 */
function nextInTurn(waiting: Iterable<Member>, fleetLimit: number): Member | undefined {
  const share = Math.max(1, fleetLimit - 1);
  let next: Member | undefined;
  for (const one of waiting) {
    const lead = next === undefined ? -1 : one.held - next.held || one.waitingSinceMs - next.waitingSinceMs;
    if (lead < 0 && one.held < Math.min(one.limit, share)) next = one;
  }
  return next;
}

/** Starts with one slot. */
export function createSlots(clock: Clock): Slots {
  const waiting = new Set<Member>();
  let limit = 1;
  let taken = 0;

  function serve(): void {
    while (taken < limit) {
      const next = nextInTurn(waiting, limit);
      if (next === undefined) return;
      taken += 1;
      next.held += 1;
      served(next);
      next.waits[0]?.end(true);
    }
  }

  function served(member: Member): void {
    member.servedMs = clock.monotonicMs();
    // Makes it the last among equals.
    if (waiting.delete(member)) waiting.add(member);
    update(member);
  }

  function update(member: Member): void {
    const [first] = member.waits;
    if (first === undefined) waiting.delete(member);
    else {
      member.waitingSinceMs = Math.max(first.sinceMs, member.servedMs);
      waiting.add(member);
    }
  }

  function wait(member: Member, { sinceMs, untilMs }: Wait): Promise<"slot" | ShortOf> {
    return new Promise((resolve) => {
      const leftMs = Math.max(0, untilMs - clock.monotonicMs());
      const timer = setTimeout(() => one.end(false), leftMs);
      const one: Waiting = {
        sinceMs,
        end: (hasSlot) => {
          clearTimeout(timer);
          member.waits.splice(member.waits.indexOf(one), 1);
          update(member);
          resolve(hasSlot ? "slot" : member.held >= member.limit ? "appliance" : "fleet");
        },
      };
      const before = member.waits.findLastIndex((other) => other.sinceMs <= sinceMs);
      member.waits.splice(before + 1, 0, one);
      update(member);
      serve();
    });
  }

  return {
    setLimit: (next) => {
      limit = next;
      serve();
    },
    forAppliance: (initial) => {
      const never = Number.NEGATIVE_INFINITY;
      const member: Member = { held: 0, limit: initial, waitingSinceMs: never, servedMs: never, waits: [] };
      return {
        setLimit: (next) => {
          member.limit = next;
          serve();
        },
        take: (claim) => wait(member, claim),
        release: () => {
          taken -= 1;
          member.held -= 1;
          served(member);
          serve();
        },
        close: () => {
          for (const one of member.waits.slice()) one.end(false);
        },
      };
    },
  };
}
