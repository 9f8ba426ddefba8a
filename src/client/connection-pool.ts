import type { Connection } from "./connection.ts";
import type { PendingClaim, Permit, Permits, Precedence } from "./permits.ts";

/** The pool of one appliance: lent to one poll each, taken back while they are good, all ended together. */
export interface ConnectionPool {
  /** The connected connection used last that is free and not outdated; `undefined` if there is none. Ends outdated ones. */
  takeConnected(): Connection | undefined;
  /**
   * A new connection, as soon as one more connection is admitted, or a connected one that is given back meanwhile where it is no
   * replacement; `undefined` once closed, and after `longestWaitMs` without one.
   */
  open(precedence: Precedence, longestWaitMs?: number): Promise<Connection | undefined>;
  /** Takes back a connection that was lent; it is kept if it is connected. */
  giveBack(connection: Connection): void;
  /** Ends a connection that was lent; for a connection that has ended already, nothing. */
  discard(connection: Connection): void;
  /** Ends all pool for good, those that are lent out too. */
  close(): void;
}

export interface ConnectionPoolDeps {
  readonly permits: Permits;
  readonly cluster: string | undefined;
  readonly create: (callbacks: { readonly onBegun: () => void; readonly onGone: () => void }) => Connection;
}

const MAX_TIMER_MS = 2 ** 31 - 1;

/** A poll that waits for a connection. */
interface Waiting {
  readonly precedence: Precedence;
  claim?: PendingClaim;
  take(connection: Connection | undefined): void;
}

export function createConnectionPool({ permits, cluster, create }: ConnectionPoolDeps): ConnectionPool {
  const idle: Connection[] = [];
  const lent = new Set<Connection>();
  const permitOf = new WeakMap<Connection, Permit>();
  const waiting = new Set<Waiting>();
  let isClosed = false;

  function openWith(permit: Permit): Connection {
    const connection = create({
      onBegun: permit.begun,
      onGone: () => {
        permit.release();
        // One that is lent stays with its poll, which is to learn why it has gone.
        const at = idle.indexOf(connection);
        if (at >= 0) idle.splice(at, 1)[0]?.destroy();
      },
    });
    permitOf.set(connection, permit);
    lent.add(connection);
    return connection;
  }
  /** The poll that may have a connection of another one: not a replacement, which the appliance could close likewise. */
  function nextWaiting(): Waiting | undefined {
    const all = [...waiting];
    return (
      all.find(({ precedence }) => precedence === "list") ??
      all.find(({ precedence }) => precedence === "test")
    );
  }
  function takeConnected(): Connection | undefined {
    for (const connection of idle.filter((each) => each.isOutdated())) connection.destroy();
    const connection = idle.pop();
    if (connection === undefined) return undefined;
    permitOf.get(connection)?.busy();
    lent.add(connection);
    return connection;
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
          take: (connection) => {
            clearTimeout(timer);
            waiting.delete(self);
            self.claim?.withdraw();
            resolve(connection);
          },
        };
        waiting.add(self);
        self.claim = permits.claim({ precedence, cluster }, (permit) => self.take(openWith(permit)));
      });
    },
    giveBack: (connection) => {
      if (!lent.delete(connection)) return;
      if (!connection.isConnected()) return connection.destroy();
      const next = nextWaiting();
      if (next?.claim?.isNext() === true) {
        lent.add(connection);
        return next.take(connection);
      }
      idle.push(connection);
      // Where connections are short this ends it, for the poll of another appliance that has waited longer.
      permitOf.get(connection)?.idle(connection.destroy);
      if (next !== undefined && idle.includes(connection)) next.take(takeConnected());
    },
    discard: (connection) => {
      lent.delete(connection);
      connection.destroy();
    },
    close: () => {
      isClosed = true;
      for (const poll of waiting) poll.take(undefined);
      for (const connection of [...lent, ...idle.splice(0)]) connection.destroy();
      lent.clear();
    },
  };
}
