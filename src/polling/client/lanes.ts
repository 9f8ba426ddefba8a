import type { Lane } from "./lane.ts";

/** The lanes of one appliance: lent to one poll each, taken back while they are good, all ended together. */
export interface Lanes {
  /** The lane used last that is free, or a new one; ends those that are outdated. `undefined` once closed. */
  take(): Lane | undefined;
  /** A new lane, with a connection of its own; `undefined` once closed. */
  takeFresh(): Lane | undefined;
  giveBack(lane: Lane): void;
  /** Ends a lane that was taken; for a lane that has ended already, nothing. */
  discard(lane: Lane): void;
  /** Ends all lanes for good, those that are lent out too. */
  close(): void;
}

export function createLanes(create: () => Lane): Lanes {
  const idle: Lane[] = [];
  const lent = new Set<Lane>();
  let isClosed = false;

  function lend(lane = create()): Lane | undefined {
    if (isClosed) return undefined;
    lent.add(lane);
    return lane;
  }
  function discard(lane: Lane): void {
    lent.delete(lane);
    lane.destroy();
  }

  return {
    take: () => {
      for (const lane of idle.splice(0)) {
        if (lane.isOutdated()) discard(lane);
        else idle.push(lane);
      }
      return lend(idle.pop());
    },
    takeFresh: () => lend(),
    giveBack: (lane) => {
      if (lent.delete(lane)) idle.push(lane);
    },
    discard,
    close: () => {
      isClosed = true;
      for (const lane of [...lent, ...idle.splice(0)]) discard(lane);
    },
  };
}
