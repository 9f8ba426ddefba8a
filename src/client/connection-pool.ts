import type { Clock } from "../support/clock.ts";
import type { Connection } from "./connection.ts";
import type { PendingClaim, Permit, Permits, Precedence } from "./permits.ts";

/** The connections of one appliance. Each is lent to one poll at a time and reused while it is connected. */
export interface ConnectionPool {
  /** Lends the idle connection used last; `undefined` if there is none. Ends outdated connections. */
  takeConnected(): Connection | undefined;
  /**
   * Lends a new connection as soon as a permit is available, or, except for a replacement, a connection that is given back
   * before that. `undefined` once closed, and after `maxWaitMs`.
   */
  open(precedence: Precedence, maxWaitMs?: number): Promise<Connection | undefined>;
  /** Takes back a lent connection; keeps it if it is connected. */
  giveBack(connection: Connection): void;
  /** Ends a lent connection; no effect if it has already ended. */
  discard(connection: Connection): void;
  /** Ends all connections, lent ones too. */
  close(): void;
}

export interface ConnectionPoolDeps {
  readonly clock: Clock;
  readonly permits: Permits;
  readonly create: (callbacks: {
    readonly onAttemptEnded: () => void;
    readonly onClosed: () => void;
  }) => Connection;
}

/** A poll that waits for a connection. */
interface Waiting {
  readonly precedence: Precedence;
  claim?: PendingClaim;
  take(connection: Connection | undefined): void;
}

/** How long connections besides the one used last are kept idle: they served polls at the same time. */
const MAX_SPARE_MS = 20_000;

export function createConnectionPool(deps: ConnectionPoolDeps): ConnectionPool {
  const { permits, create, clock } = deps;
  /** Since when each is idle; the last one was used last. */
  const idle = new Map<Connection, number>();
  const lent = new Set<Connection>();
  const permitOf = new WeakMap<Connection, Permit>();
  const waiting = new Set<Waiting>();
  let isClosed = false;

  function openWith(permit: Permit): Connection {
    const connection = create({
      onAttemptEnded: permit.attemptEnded,
      onClosed: () => {
        permit.release();
        // A lent connection stays with its poll, which needs to see why it ended.
        if (idle.delete(connection)) connection.destroy();
      },
    });
    permitOf.set(connection, permit);
    lent.add(connection);
    return connection;
  }
  /** The next poll that may reuse a connection. A replacement may not: the appliance could close that connection too. */
  function nextWaiting(): Waiting | undefined {
    const all = [...waiting];
    return (
      all.find(({ precedence }) => precedence === "list") ??
      all.find(({ precedence }) => precedence === "test")
    );
  }
  function endSpares(): void {
    const nowMs = clock.monotonicMs();
    for (const [connection, sinceMs] of idle) if (nowMs - sinceMs >= MAX_SPARE_MS) connection.destroy();
  }
  function takeConnected(): Connection | undefined {
    for (const connection of idle.keys()) if (connection.isOutdated()) connection.destroy();
    const connection = [...idle.keys()].at(-1);
    if (connection === undefined) return undefined;
    idle.delete(connection);
    permitOf.get(connection)?.busy();
    lent.add(connection);
    return connection;
  }

  return {
    takeConnected,
    open: (precedence, maxWaitMs) => {
      if (isClosed) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        const timer = maxWaitMs === undefined ? undefined : setTimeout(() => self.take(undefined), maxWaitMs);
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
        self.claim = permits.claim(precedence, (permit) => self.take(openWith(permit)));
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
      endSpares();
      idle.set(connection, clock.monotonicMs());
      // If connections are scarce, this ends the connection in favor of another appliance's poll that waited longer.
      permitOf.get(connection)?.idle(connection.destroy);
      if (next !== undefined && idle.has(connection)) next.take(takeConnected());
    },
    discard: (connection) => {
      lent.delete(connection);
      connection.destroy();
    },
    close: () => {
      isClosed = true;
      for (const poll of waiting) poll.take(undefined);
      for (const connection of [...idle.keys(), ...lent]) connection.destroy();
      lent.clear();
    },
  };
}
