import type { Lane } from "./lane.ts";

/** The lanes of one appliance: lent to one poll each, taken back while they are good, all ended together. */
export interface Lanes {
  /** The lane used last that is free, or a new one. */
  take(): Lane;
  /** A new lane, with a connection of its own. */
  takeFresh(): Lane;
  giveBack(lane: Lane): void;
  /** Ends a lane that was taken; for a lane that has ended already, nothing. */
  discard(lane: Lane): void;
  /** Ends all lanes, those that are lent out too. */
  close(): void;
}

export function createLanes(create: () => Lane): Lanes {
  const idle: Lane[] = [];
  const lent = new Set<Lane>();

  function lend(lane: Lane): Lane {
    lent.add(lane);
    return lane;
  }
  function discard(lane: Lane): void {
    lent.delete(lane);
    lane.destroy();
  }

  return {
    take: () => lend(idle.pop() ?? create()),
    takeFresh: () => lend(create()),
    giveBack: (lane) => {
      if (lent.delete(lane)) idle.push(lane);
    },
    discard,
    close: () => {
      for (const lane of [...lent, ...idle.splice(0)]) discard(lane);
    },
  };
}
