import type { Lane } from "./lane.ts";
import type { PendingClaim, Permit, Permits, Precedence } from "./permits.ts";

/** The lanes of one appliance: lent to one poll each, taken back while they are good, all ended together. */
export interface Lanes {
  /** The connected lane used last that is free and not outdated; `undefined` if there is none. Ends outdated ones. */
  takeConnected(): Lane | undefined;
  /**
   * A new lane, as soon as one more connection is admitted, or a connected one that is given back meanwhile where it is no
   * replacement; `undefined` once closed, and after `longestWaitMs` without one.
   */
  open(precedence: Precedence, longestWaitMs?: number): Promise<Lane | undefined>;
  /** Takes back a lane that was lent; it is kept if it is connected. */
  giveBack(lane: Lane): void;
  /** Ends a lane that was lent; for a lane that has ended already, nothing. */
  discard(lane: Lane): void;
  /** Ends all lanes for good, those that are lent out too. */
  close(): void;
}

export interface LanesDeps {
  readonly permits: Permits;
  readonly cluster: string | undefined;
  readonly create: (callbacks: { readonly onBegun: () => void; readonly onGone: () => void }) => Lane;
}

const MAX_TIMER_MS = 2 ** 31 - 1;

/** A poll that waits for a lane. */
interface Waiting {
  readonly precedence: Precedence;
  claim?: PendingClaim;
  take(lane: Lane | undefined): void;
}

export function createLanes({ permits, cluster, create }: LanesDeps): Lanes {
  const idle: Lane[] = [];
  const lent = new Set<Lane>();
  const permitOf = new WeakMap<Lane, Permit>();
  const waiting = new Set<Waiting>();
  let isClosed = false;

  function openWith(permit: Permit): Lane {
    const lane = create({
      onBegun: permit.begun,
      onGone: () => {
        permit.release();
        // One that is lent stays with its poll, which is to learn why it has gone.
        const at = idle.indexOf(lane);
        if (at >= 0) idle.splice(at, 1)[0]?.destroy();
      },
    });
    permitOf.set(lane, permit);
    lent.add(lane);
    return lane;
  }
  /** The poll that may have a lane of another one: not a replacement, which the appliance could close likewise. */
  function nextWaiting(): Waiting | undefined {
    const all = [...waiting];
    return (
      all.find(({ precedence }) => precedence === "list") ??
      all.find(({ precedence }) => precedence === "test")
    );
  }
  function takeConnected(): Lane | undefined {
    for (const lane of idle.filter((each) => each.isOutdated())) lane.destroy();
    const lane = idle.pop();
    if (lane === undefined) return undefined;
    permitOf.get(lane)?.busy();
    lent.add(lane);
    return lane;
  }

  return {
    takeConnected,
    open: (precedence, longestWaitMs) => {
      if (isClosed) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        const giveUp = (): void => self.take(undefined);
        const timer =
          longestWaitMs === undefined ? undefined : setTimeout(giveUp, Math.min(longestWaitMs, MAX_TIMER_MS));
        const self: Waiting = {
          precedence,
          take: (lane) => {
            clearTimeout(timer);
            waiting.delete(self);
            self.claim?.withdraw();
            resolve(lane);
          },
        };
        waiting.add(self);
        self.claim = permits.claim({ precedence, cluster }, (permit) => self.take(openWith(permit)));
      });
    },
    giveBack: (lane) => {
      if (!lent.delete(lane)) return;
      if (!lane.isConnected()) return lane.destroy();
      const next = nextWaiting();
      if (next?.claim?.isNext() === true) {
        lent.add(lane);
        return next.take(lane);
      }
      idle.push(lane);
      // Where connections are short this ends it, for the poll of another appliance that has waited longer.
      permitOf.get(lane)?.idle(lane.destroy);
      if (next !== undefined && idle.includes(lane)) next.take(takeConnected());
    },
    discard: (lane) => {
      lent.delete(lane);
      lane.destroy();
    },
    close: () => {
      isClosed = true;
      for (const poll of waiting) poll.take(undefined);
      for (const lane of [...lent, ...idle.splice(0)]) lane.destroy();
      lent.clear();
    },
  };
}
