import { TIMINGS, type TimingName } from "../api/operation.ts";
import type { ConfigError, OperationTiming } from "./config.ts";
import { formatDuration } from "./duration.ts";
import { innermost, type Chain } from "./places.ts";
import { shortestGapMs } from "./schedule.ts";
import { errorAt } from "./yaml.ts";

/**
 * When an operation is due and how long it may take, each from the innermost block that sets it, else built in. A default
 * timeout is at most the interval or the shortest gap of the schedule; a longer explicit timeout is an error.
 */
export function resolveTiming(
  chain: Chain,
  operation: TimingName,
): { readonly timing: OperationTiming; readonly errors: readonly ConfigError[] } {
  const block = innermost(chain, ({ polling }) => {
    const timing = polling?.[operation];
    return timing?.interval === undefined && timing?.schedule === undefined ? undefined : timing;
  });
  const timeout = innermost(chain, ({ polling }) => polling?.[operation]?.timeout);
  const { interval = TIMINGS[operation].intervalMs, schedule } = block?.value ?? {};
  const gapMs = schedule === undefined ? interval : shortestGapMs(schedule);
  const timeoutMs = timeout?.value ?? Math.min(TIMINGS[operation].timeoutMs, gapMs);
  const timing: OperationTiming =
    schedule === undefined
      ? { kind: "interval", intervalMs: interval, timeoutMs }
      : { kind: "schedule", expression: schedule, timeoutMs };
  if (timeout === undefined || timeoutMs <= gapMs) return { timing, errors: [] };
  // The error is at the inner one of the two settings.
  const isPaceInner = block !== undefined && chain.indexOf(block.place) > chain.indexOf(timeout.place);
  const { file, path } = isPaceInner ? block.place : timeout.place;
  const key = isPaceInner ? timing.kind : "timeout";
  const limit =
    timing.kind === "interval" ? "the interval" : "the shortest time between two runs of the schedule";
  const message = `expected a timeout of at most ${limit}, ${formatDuration(gapMs)}, got ${formatDuration(timeoutMs)}`;
  return { timing, errors: [errorAt(file, [...path, "polling", operation, key], message)] };
}
