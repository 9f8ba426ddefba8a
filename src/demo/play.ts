import { setTimeout as sleep } from "node:timers/promises";

export interface PlayDeps {
  /** Makes the next thing happen, and tells it. */
  readonly step: () => Promise<string>;
  readonly intervalMs: number;
  readonly say: (sentence: string) => void;
  /** Tells what has become of it, `afterMs` later; left out where the next step comes before that. */
  readonly report: { readonly afterMs: number; readonly tell: () => void };
  readonly stopRequested: Promise<void>;
}

/** Takes a step at each interval until a stop is requested; rejects as soon as a step does. */
export async function play({ step, intervalMs, say, report, stopRequested }: PlayDeps): Promise<void> {
  const stop = new AbortController();
  void stopRequested.then(() => stop.abort());
  // It rejects when aborted, and never else.
  const wait = (ms: number) => sleep(ms, undefined, { signal: stop.signal }).catch(() => undefined);
  await wait(intervalMs);
  while (!stop.signal.aborted) {
    say(await step());
    const afterMs = Math.min(report.afterMs, intervalMs);
    await wait(afterMs);
    if (stop.signal.aborted) return;
    if (afterMs < intervalMs) report.tell();
    await wait(intervalMs - afterMs);
  }
}
