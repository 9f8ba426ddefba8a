import { setTimeout as sleep } from "node:timers/promises";

export interface PlayDeps {
  /** Makes the next thing happen, and tells it. */
  readonly step: () => Promise<string>;
  readonly intervalMs: number;
  readonly say: (sentence: string) => void;
  readonly stopRequested: Promise<void>;
}

/** Takes a step at each interval until a stop is requested; rejects as soon as a step does. */
export async function play({ step, intervalMs, say, stopRequested }: PlayDeps): Promise<void> {
  const stop = new AbortController();
  void stopRequested.then(() => stop.abort());
  for (;;) {
    // It rejects when aborted, and never else.
    await sleep(intervalMs, undefined, { signal: stop.signal }).catch(() => undefined);
    if (stop.signal.aborted) return;
    say(await step());
  }
}
