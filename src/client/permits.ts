import type { Attention } from "./attention.ts";

/** Maximum number of concurrent attempts to connect, over all appliances. */
const MAX_CONNECTING = 64;
/** A connection that hangs delays others no longer than this, in attentive time: an overloaded loop starts fewer. */
const CONNECTING_MS = 250;
/** Up to this many members of a cluster connect together, even above the limit. */
const MAX_TOGETHER = 16;

/**
 * The order of service: polls in flight that lost their connection, then VRRP lists, then website tests.
 */
export const PRECEDENCES = ["replacement", "list", "test"] as const;
export type Precedence = (typeof PRECEDENCES)[number];

export interface Claim {
  readonly precedence: Precedence;
  /** Lists of one cluster are served together, so that they are polled at the same instant. */
  readonly cluster?: string | undefined;
}

/** The right to one connection, from the attempt to connect until it is closed. */
export interface Permit {
  /** The attempt to connect has succeeded or failed: another one may start. */
  attemptEnded(): void;
  /** The connection is idle; `end` is called if its permit is needed elsewhere. */
  idle(end: () => void): void;
  /** The connection is used again. */
  busy(): void;
  /** The connection is closed. */
  release(): void;
}

/**
 * Admits new connections: limits the concurrent attempts to connect and the open connections. All clients of the process
 * share it. Claims of the same precedence are served in order.
 */
export interface Permits {
  /**
   * Calls `onGranted` as soon as the connection is admitted, possibly at once. If too many are open, ends those that have
   * been idle longest, of any appliance.
   */
  claim(claim: Claim, onGranted: (permit: Permit) => void): PendingClaim;
}

export interface PendingClaim {
  /** Whether it is first in order. */
  isNext(): boolean;
  /** The connection is no longer needed. */
  withdraw(): void;
}

export interface PermitsOptions {
  readonly attention: Attention;
  /** The current maximum of open connections; at least 1. */
  readonly maxOpen: () => number;
}

interface Waiting extends Claim {
  readonly grant: (permit: Permit) => void;
}

export function createPermits({ attention, maxOpen }: PermitsOptions): Permits {
  const queues: Readonly<Record<Precedence, Set<Waiting>>> = {
    replacement: new Set(),
    list: new Set(),
    test: new Set(),
  };
  /** Claims of `queues.list` by cluster. */
  const clusters = new Map<string, Set<Waiting>>();
  /** Connections that are connecting: all, and those for lists by cluster. */
  let connecting = 0;
  const connectingOf = new Map<string, number>();
  /** Ends each idle connection; in order of idle time, longest first. */
  const idle = new Map<Permit, () => void>();
  let open = 0;
  let isAdmitting = false;
  let mustLookAgain = false;

  /** Callbacks can call it again; that starts another round instead of a recursion. */
  function admit(): void {
    mustLookAgain = true;
    if (isAdmitting) return;
    isAdmitting = true;
    while (mustLookAgain) {
      mustLookAgain = false;
      serveQueues();
    }
    isAdmitting = false;
  }
  function serveQueues(): void {
    for (const precedence of PRECEDENCES) {
      for (const waiting of queues[precedence]) {
        if (connecting >= MAX_CONNECTING || !makeRoom()) return;
        serve(waiting);
        serveCluster(waiting.cluster);
      }
    }
  }
  /** Serves the waiting members of a cluster. Members that arrive a little later are served on arrival. */
  function serveCluster(cluster = ""): void {
    for (const member of clusters.get(cluster) ?? []) {
      if ((connectingOf.get(cluster) ?? 0) >= MAX_TOGETHER || !makeRoom()) return;
      serve(member);
    }
  }
  function makeRoom(): boolean {
    shrinkTo(maxOpen() - 1);
    return open < maxOpen();
  }
  function shrinkTo(target: number): void {
    for (const end of idle.values()) {
      if (open <= target) return;
      end();
    }
  }
  function serve(waiting: Waiting): void {
    withdraw(waiting);
    waiting.grant(createPermit(waiting.cluster));
  }

  function isNext(waiting: Waiting): boolean {
    for (const precedence of PRECEDENCES) {
      const [first] = queues[precedence];
      if (first !== undefined) return first === waiting;
    }
    return false;
  }
  function withdraw(waiting: Waiting): void {
    queues[waiting.precedence].delete(waiting);
    const { cluster } = waiting;
    if (cluster === undefined) return;
    const members = clusters.get(cluster);
    members?.delete(waiting);
    if (members?.size === 0) clusters.delete(cluster);
  }

  function count(cluster: string | undefined, by: 1 | -1): void {
    connecting += by;
    if (cluster === undefined) return;
    const members = (connectingOf.get(cluster) ?? 0) + by;
    if (members === 0) connectingOf.delete(cluster);
    else connectingOf.set(cluster, members);
  }

  function createPermit(cluster: string | undefined): Permit {
    let isConnecting = true;
    let isOpen = true;
    open += 1;
    count(cluster, 1);
    const attemptEnded = (): void => {
      hanging.end();
      if (!isConnecting) return;
      isConnecting = false;
      count(cluster, -1);
      admit();
    };
    const hanging = attention.deadline(CONNECTING_MS, attemptEnded);
    hanging.run();
    const permit: Permit = {
      attemptEnded,
      idle: (end) => {
        idle.set(permit, end);
        // The maximum may have decreased.
        shrinkTo(maxOpen());
        admit();
      },
      busy: () => void idle.delete(permit),
      release: () => {
        if (!isOpen) return;
        isOpen = false;
        idle.delete(permit);
        open -= 1;
        attemptEnded();
        admit();
      },
    };
    return permit;
  }

  return {
    claim: (claim, grant) => {
      const cluster = claim.precedence === "list" ? claim.cluster : undefined;
      const waiting: Waiting = { precedence: claim.precedence, cluster, grant };
      queues[claim.precedence].add(waiting);
      if (cluster !== undefined) clusters.set(cluster, (clusters.get(cluster) ?? new Set()).add(waiting));
      if (cluster !== undefined && connectingOf.has(cluster)) serveCluster(cluster);
      admit();
      return { withdraw: () => withdraw(waiting), isNext: () => isNext(waiting) };
    },
  };
}
