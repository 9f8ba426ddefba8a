import type { Attention } from "./attention.ts";

/** Connections that are being made at once, over all appliances. */
const MAX_BEGINNING = 64;
/** A connection that hangs holds up others no longer than this, in attentive time: a loop that is late begins fewer. */
const BEGINNING_MS = 250;
/** As many members of a cluster begin together, even if that is more than may begin at once. */
const MAX_TOGETHER = 16;

/**
 * Who is served first: a poll that has begun already and lost its connection, then VRRP lists, then website tests.
 */
export const PRECEDENCES = ["replacement", "list", "test"] as const;
export type Precedence = (typeof PRECEDENCES)[number];

export interface Claim {
  readonly precedence: Precedence;
  /** Lists of one cluster are served together, so that they are polled at the same moment. */
  readonly cluster?: string | undefined;
}

/** The right to one connection, held from before it is made until it is gone. */
export interface Permit {
  /** The connection is made, or has failed: another one may begin. */
  begun(): void;
  /** Nobody uses the connection; `end` ends it where its permit is needed elsewhere. */
  idle(end: () => void): void;
  /** The connection is used again. */
  busy(): void;
  /** The connection is gone. */
  release(): void;
}

/**
 * Admits new connections: so many may begin at once, and so many may be open. All clients of the process share it. Claims
 * of the same precedence are served in turn.
 */
export interface Permits {
  /**
   * Calls `onGranted` as soon as the connection may be made, at once where it can. Where too many are open, those that have
   * been idle longest are ended, whichever appliance they lead to.
   */
  claim(claim: Claim, onGranted: (permit: Permit) => void): PendingClaim;
}

export interface PendingClaim {
  /** Whether it is served before all others. */
  isNext(): boolean;
  /** The connection is not needed any more. */
  withdraw(): void;
}

export interface PermitsOptions {
  readonly attention: Attention;
  /** Connections that may be open at once, now; at least 1. */
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
  /** Connections that are being made: all of them, and those for lists by cluster. */
  let beginning = 0;
  const beginningOf = new Map<string, number>();
  /** What ends each idle connection; the one that has been idle longest comes first. */
  const idle = new Map<Permit, () => void>();
  let open = 0;
  let isAdmitting = false;
  let mustLookAgain = false;

  /** What is granted or ended in here may call it again; that is one more round, not a deeper one. */
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
        if (beginning >= MAX_BEGINNING || !makeRoom()) return;
        serve(waiting);
        serveCluster(waiting.cluster);
      }
    }
  }
  /** The other members that wait; those that come a little later are served as they come. */
  function serveCluster(cluster = ""): void {
    for (const member of clusters.get(cluster) ?? []) {
      if ((beginningOf.get(cluster) ?? 0) >= MAX_TOGETHER || !makeRoom()) return;
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
    beginning += by;
    if (cluster === undefined) return;
    const members = (beginningOf.get(cluster) ?? 0) + by;
    if (members === 0) beginningOf.delete(cluster);
    else beginningOf.set(cluster, members);
  }

  function createPermit(cluster: string | undefined): Permit {
    let isBeginning = true;
    let isOpen = true;
    open += 1;
    count(cluster, 1);
    const begun = (): void => {
      hanging.end();
      if (!isBeginning) return;
      isBeginning = false;
      count(cluster, -1);
      admit();
    };
    const hanging = attention.deadline(BEGINNING_MS, begun);
    hanging.run();
    const permit: Permit = {
      begun,
      idle: (end) => {
        idle.set(permit, end);
        // Fewer may be open than before.
        shrinkTo(maxOpen());
        admit();
      },
      busy: () => void idle.delete(permit),
      release: () => {
        if (!isOpen) return;
        isOpen = false;
        idle.delete(permit);
        open -= 1;
        begun();
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
      if (cluster !== undefined && beginningOf.has(cluster)) serveCluster(cluster);
      admit();
      return { withdraw: () => withdraw(waiting), isNext: () => isNext(waiting) };
    },
  };
}
