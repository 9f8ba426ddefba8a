import { setTimeout as sleep } from "node:timers/promises";

export interface PlayDeps {
  /** Takes the next step; returns its description. */
  readonly step: () => string;
  readonly intervalMs: number;
  readonly print: (sentence: string) => void;
  /** Prints the consequences `afterMs` later, unless the next step comes first. */
  readonly report: { readonly afterMs: number; readonly print: () => Promise<void> };
  readonly stopRequested: Promise<void>;
}

/** Takes a step at each interval until a stop is requested. */
export async function play({ step, intervalMs, print, report, stopRequested }: PlayDeps): Promise<void> {
  const stop = new AbortController();
  void stopRequested.then(() => stop.abort());
  // Rejects only when aborted.
  const wait = (ms: number) => sleep(ms, undefined, { signal: stop.signal }).catch(() => undefined);
  await wait(intervalMs);
  while (!stop.signal.aborted) {
    print(step());
    const afterMs = Math.min(report.afterMs, intervalMs);
    await wait(afterMs);
    if (stop.signal.aborted) return;
    if (afterMs < intervalMs) await report.print();
    await wait(intervalMs - afterMs);
  }
}
