import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";

/**
 * Watches the event loop of this process. The returned function resolves to the longest delay in ms, which a time limit
 * must allow for on a busy machine.
 */
export function watchLoopDelay(): () => Promise<number> {
  const delays = monitorEventLoopDelay();
  delays.enable();
  return async () => {
    // A delay counts once the watch's own timer has fired, which may be after the timer that is measured.
    await delay(50);
    return delays.max / 1e6;
  };
}
