/** The server's wall clock, told by its latest answer and carried on by the browser's. */
export interface ServerClock {
  /** Unix time. */
  nowMs(): number;
  set(serverMs: number | undefined): void;
}

export function createServerClock(): ServerClock {
  let offsetMs = 0;
  return {
    nowMs: () => Date.now() + offsetMs,
    set: (serverMs) => {
      if (serverMs !== undefined) offsetMs = serverMs - Date.now();
    },
  };
}

/** A moment to measure an age from. */
export interface Moment {
  ageMs(): number;
}

/** By two clocks, of which one stands still while the machine sleeps and the other may be set: the greater age counts. */
export function momentNow(): Moment {
  const [monotonicMs, wallMs] = [performance.now(), Date.now()];
  return { ageMs: () => Math.max(performance.now() - monotonicMs, Date.now() - wallMs) };
}
