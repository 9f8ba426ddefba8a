import type { Attention } from "./attention.ts";

/** Maximum number of concurrent attempts to connect, over all appliances. */
const MAX_CONNECTING = 64;
/** A connection that hangs delays others no longer than this, in attentive time: an overloaded loop starts fewer. */
const CONNECTING_MS = 250;

/**
 * The order of service: polls in flight that lost their connection, then VRRP lists, then website tests.
 */
const PRECEDENCES = ["replacement", "list", "test"] as const;
export type Precedence = (typeof PRECEDENCES)[number];

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
  claim(precedence: Precedence, onGranted: (permit: Permit) => void): PendingClaim;
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

interface Waiting {
  readonly precedence: Precedence;
  readonly grant: (permit: Permit) => void;
}

export function createPermits({ attention, maxOpen }: PermitsOptions): Permits {
  const queues: Readonly<Record<Precedence, Set<Waiting>>> = {
    replacement: new Set(),
    list: new Set(),
    test: new Set(),
  };
  /** Ends each idle connection; in order of idle time, longest first. */
  const idle = new Map<Permit, () => void>();
  let connecting = 0;
  let open = 0;
  let isAdmitting = false;

  /** Callbacks can call it again, without effect: it looks again after each of them. */
  function admit(): void {
    if (isAdmitting) return;
    isAdmitting = true;
    for (let first = next(); first !== undefined && mayConnect(); first = next()) {
      queues[first.precedence].delete(first);
      first.grant(createPermit());
    }
    isAdmitting = false;
  }
  function next(): Waiting | undefined {
    for (const precedence of PRECEDENCES) {
      const [first] = queues[precedence];
      if (first !== undefined) return first;
    }
    return undefined;
  }
  function mayConnect(): boolean {
    if (connecting >= MAX_CONNECTING) return false;
    shrinkTo(maxOpen() - 1);
    return open < maxOpen();
  }
  function shrinkTo(target: number): void {
    for (const end of idle.values()) {
      if (open <= target) return;
      end();
    }
  }

  function createPermit(): Permit {
    let isConnecting = true;
    let isOpen = true;
    open += 1;
    connecting += 1;
    const attemptEnded = (): void => {
      if (!isConnecting) return;
      isConnecting = false;
      connecting -= 1;
      endHanging();
      admit();
    };
    const endHanging = attention.deadline(CONNECTING_MS, attemptEnded);
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
    claim: (precedence, grant) => {
      const waiting: Waiting = { precedence, grant };
      queues[precedence].add(waiting);
      admit();
      return {
        withdraw: () => void queues[precedence].delete(waiting),
        isNext: () => next() === waiting,
      };
    },
  };
}
