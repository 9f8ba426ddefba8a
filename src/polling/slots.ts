import type { Clock } from "../support/clock.ts";

/** The fleet's slots for polls of one kind, shared fairly between appliances. */
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

interface Member {
  /** How many slots it holds, and how many it may hold. */
  held: number;
  limit: number;
  /** The first is served next. */
  readonly waits: { readonly sinceMs: number; readonly end: (hasSlot: boolean) => void }[];
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
      changeHeld(member, 1);
      member.waits[0]?.end(true);
    }
  }
  /** One slot more or less; in either case it is the last in turn. */
  function changeHeld(member: Member, by: 1 | -1): void {
    taken += by;
    member.held += by;
    if (waiting.delete(member)) waiting.add(member);
  }

  return {
    setLimit: (latest) => {
      limit = latest;
      serve();
    },
    forAppliance: (initial) => {
      const member: Member = { held: 0, limit: initial, waits: [] };
      const { waits } = member;
      return {
        setLimit: (latest) => {
          member.limit = latest;
          serve();
        },
        take: (untilMs, sinceMs) =>
          new Promise((resolve) => {
            const end = (hasSlot: boolean): void => {
              clearTimeout(timer);
              waits.splice(waits.indexOf(self), 1);
              if (waits.length === 0) waiting.delete(member);
              resolve(hasSlot ? "slot" : member.held >= member.limit ? "appliance" : "fleet");
            };
            const self = { sinceMs, end };
            const timer = setTimeout(() => end(false), Math.max(0, untilMs - clock.monotonicMs()));
            const later = waits.findIndex((other) => other.sinceMs > sinceMs);
            waits.splice(later < 0 ? waits.length : later, 0, self);
            waiting.add(member);
            serve();
          }),
        release: () => {
          changeHeld(member, -1);
          serve();
        },
        close: () => {
          for (const { end } of waits.slice()) end(false);
        },
      };
    },
  };
}
