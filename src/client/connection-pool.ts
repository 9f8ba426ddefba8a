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

interface IdleConnection {
  readonly connection: Connection;
  readonly sinceMs: number;
}

export function createConnectionPool(deps: ConnectionPoolDeps): ConnectionPool {
  const { permits, create, clock } = deps;
  /** In the order of their use; the last one was used last. */
  const idle: IdleConnection[] = [];
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
        const at = idle.findIndex((each) => each.connection === connection);
        if (at >= 0) idle.splice(at, 1)[0]?.connection.destroy();
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
    const spares = idle.filter(({ sinceMs }) => clock.monotonicMs() - sinceMs >= MAX_SPARE_MS);
    for (const { connection } of spares) connection.destroy();
  }
  function takeConnected(): Connection | undefined {
    const outdated = idle.filter(({ connection }) => connection.isOutdated());
    for (const { connection } of outdated) connection.destroy();
    const connection = idle.pop()?.connection;
    if (connection === undefined) return undefined;
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
      idle.push({ connection, sinceMs: clock.monotonicMs() });
      // If connections are scarce, this ends the connection in favor of another appliance's poll that waited longer.
      permitOf.get(connection)?.idle(connection.destroy);
      if (next !== undefined && idle.at(-1)?.connection === connection) next.take(takeConnected());
    },
    discard: (connection) => {
      lent.delete(connection);
      connection.destroy();
    },
    close: () => {
      isClosed = true;
      for (const poll of waiting) poll.take(undefined);
      for (const { connection } of idle.splice(0)) connection.destroy();
      for (const connection of lent) connection.destroy();
      lent.clear();
    },
  };
}
