import type { Clock } from "../../support/clock.ts";
import type { Attention } from "./attention.ts";
import type { Connection, ConnectionOptions } from "./connection.ts";

/** The maximum number of concurrent attempts to connect, over all appliances. */
const MAX_CONNECTING = 64;
/** A connection that hangs delays others no longer than this attentive time, in which an overloaded loop starts fewer. */
const CONNECTING_MS = 250;
/** Connections besides the one used last served polls at the same time, and are kept idle for this long. */
const MAX_SPARE_MS = 20_000;

/** Waiting polls of VRRP lists are served first. */
export type Precedence = "list" | "test";

/** The connections of one appliance. Each is lent to one poll at a time. */
export interface ConnectionPool {
  /**
   * Lends the idle connection used last. If there is none, lends a new one as soon as one is allowed, or one that is given back before
   * that. Resolves to `undefined` once closed, and after `maxWaitMs`.
   */
  take(precedence: Precedence, maxWaitMs?: number): Promise<Connection | undefined>;
  /** Keeps the connection if it can be used again. */
  giveBack(connection: Connection): void;
  /** Ends all connections, including lent ones. */
  close(): void;
}

type Callbacks = Pick<ConnectionOptions, "onAttemptEnded" | "onDestroyed">;

/** A poll that waits. */
interface Waiting {
  /** Returns an idle connection, or a new one if that is allowed now. */
  readonly find: () => Connection | undefined;
  readonly end: (connection: Connection | undefined) => void;
}

/**
 * Creates the maker of each appliance's pool. Over all pools the attempts to connect and the open connections are limited; if too many are
 * open, connections that have been idle longest end. Polls of the same precedence are served in order. `limit` returns the maximum of open
 * connections at present, at least 1.
 */
export function createConnections(
  attention: Attention,
  clock: Clock,
  limit: () => number,
): (create: (callbacks: Callbacks) => Connection) => ConnectionPool {
  const queues: Readonly<Record<Precedence, Set<Waiting>>> = { list: new Set(), test: new Set() };
  const open = new Set<Connection>();
  /** The connections whose attempt to connect is neither over nor hangs. */
  const connecting = new Set<Connection>();
  /** The instants since which connections are idle; the connection that is idle longest is first. */
  const idle = new Map<Connection, number>();
  let isServing = false;

  /** Ends connections that have been idle longest, until at most `maxOpen` are open or none is idle. */
  function endIdle(maxOpen: number): void {
    for (const connection of idle.keys()) {
      if (open.size <= maxOpen) return;
      connection.destroy();
    }
  }
  /** Serves waiting polls in order. Connections that end meanwhile call this function again, without effect. */
  function serve(): void {
    if (isServing) return;
    isServing = true;
    for (let first = next(); first !== undefined; first = next()) {
      const connection = first.find();
      if (connection === undefined) break;
      first.end(connection);
    }
    isServing = false;
  }
  function next(): Waiting | undefined {
    const [first] = queues.list.size > 0 ? queues.list : queues.test;
    return first;
  }
  function mayConnect(): boolean {
    if (connecting.size >= MAX_CONNECTING) return false;
    const others = limit() - 1;
    endIdle(others);
    return open.size <= others;
  }

  return (create) => {
    /** The open connections of this appliance; the one used last is last. */
    const own = new Set<Connection>();
    const waiting = new Set<Waiting>();
    let isClosed = false;

    function make(): Connection {
      const onAttemptEnded = (): void => {
        endHanging();
        if (connecting.delete(connection)) serve();
      };
      const onDestroyed = (): void => {
        endHanging();
        for (const each of [own, open, connecting, idle]) each.delete(connection);
        serve();
      };
      const connection = create({ onAttemptEnded, onDestroyed });
      const endHanging = attention.deadline(CONNECTING_MS, onAttemptEnded);
      for (const each of [own, open, connecting]) each.add(connection);
      return connection;
    }
    function takeIdle(): Connection | undefined {
      for (const each of own) if (idle.has(each) && !each.isUsable()) each.destroy();
      const connection = [...own].findLast((each) => idle.has(each));
      if (connection !== undefined) idle.delete(connection);
      return connection;
    }
    function wait(precedence: Precedence, maxWaitMs?: number): Promise<Connection | undefined> {
      return new Promise((resolve) => {
        const timer = maxWaitMs === undefined ? undefined : setTimeout(() => self.end(undefined), maxWaitMs);
        const self: Waiting = {
          find: () => takeIdle() ?? (mayConnect() ? make() : undefined),
          end: (connection) => {
            clearTimeout(timer);
            waiting.delete(self);
            queues[precedence].delete(self);
            resolve(connection);
          },
        };
        waiting.add(self);
        queues[precedence].add(self);
        serve();
      });
    }

    return {
      take: async (precedence, maxWaitMs) => {
        endIdle(limit());
        return isClosed ? undefined : (takeIdle() ?? wait(precedence, maxWaitMs));
      },
      giveBack: (connection) => {
        if (!connection.isUsable()) return connection.destroy();
        const nowMs = clock.monotonicMs();
        for (const each of own) if (nowMs - (idle.get(each) ?? nowMs) >= MAX_SPARE_MS) each.destroy();
        own.delete(connection);
        own.add(connection);
        idle.set(connection, nowMs);
        endIdle(limit());
        // If connections are scarce, this ends the connection in favor of another appliance's poll that waited longer.
        serve();
        if (!idle.has(connection)) return;
        const polls = [...waiting];
        (polls.find((poll) => queues.list.has(poll)) ?? polls[0])?.end(takeIdle());
      },
      close: () => {
        isClosed = true;
        for (const poll of waiting) poll.end(undefined);
        for (const connection of own) connection.destroy();
      },
    };
  };
}
