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
   * reached: the fleet's or the appliance's. Never rejects. `sinceMs`: its place among the appliance's waits, the earliest
   * first.
   */
  take(untilMs: number, sinceMs: number): Promise<"slot" | ShortOf>;
  release(): void;
  /** Ends every wait. */
  close(): void;
}

export type ShortOf = "fleet" | "appliance";

interface Wait {
  readonly sinceMs: number;
  readonly end: (hasSlot: boolean) => void;
}

interface Member {
  /** How many slots it holds, and how many it may hold. */
  held: number;
  limit: number;
  /** The first is served next. */
  readonly waits: Wait[];
}

/** Starts with one slot. */
export function createSlots(clock: Clock): Slots {
  /** In turn: the one served last is last. */
  const waiting = new Set<Member>();
  let limit = 1;
  let taken = 0;

  /**
   * The appliance that gets a free slot: of those below their limit, the one with the fewest slots; among equals the first
   * in turn. If there are several slots, no appliance gets all of them, so that one appliance never blocks the others.
   */
  function next(): Member | undefined {
    const share = Math.max(1, limit - 1);
    let fewest: Member | undefined;
    for (const one of waiting)
      if (one.held < Math.min(one.limit, share, fewest?.held ?? Number.POSITIVE_INFINITY)) fewest = one;
    return fewest;
  }
  function serve(): void {
    while (taken < limit) {
      const member = next();
      if (member === undefined) return;
      taken += 1;
      member.held += 1;
      moveBack(member);
      member.waits[0]?.end(true);
    }
  }
  function moveBack(member: Member): void {
    if (waiting.delete(member)) waiting.add(member);
  }

  function wait(member: Member, untilMs: number, sinceMs: number): Promise<"slot" | ShortOf> {
    return new Promise((resolve) => {
      const end = (hasSlot: boolean): void => {
        clearTimeout(timer);
        member.waits.splice(member.waits.indexOf(self), 1);
        if (member.waits.length === 0) waiting.delete(member);
        resolve(hasSlot ? "slot" : member.held >= member.limit ? "appliance" : "fleet");
      };
      const self = { sinceMs, end };
      const timer = setTimeout(() => end(false), Math.max(0, untilMs - clock.monotonicMs()));
      const later = member.waits.findIndex((other) => other.sinceMs > sinceMs);
      member.waits.splice(later < 0 ? member.waits.length : later, 0, self);
      waiting.add(member);
      serve();
    });
  }

  return {
    setLimit: (latest) => {
      limit = latest;
      serve();
    },
    forAppliance: (initial) => {
      const member: Member = { held: 0, limit: initial, waits: [] };
      return {
        setLimit: (latest) => {
          member.limit = latest;
          serve();
        },
        take: (untilMs, sinceMs) => wait(member, untilMs, sinceMs),
        release: () => {
          taken -= 1;
          member.held -= 1;
          moveBack(member);
          serve();
        },
        close: () => {
          for (const { end } of member.waits.slice()) end(false);
        },
      };
    },
  };
}
