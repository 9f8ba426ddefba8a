import type { ConfigError, OperationTiming } from "../config.ts";
import { formatDuration } from "../schema/duration.ts";
import { shortestGapMs } from "../schema/schedule-expression.ts";
import type { Timing } from "../schema/polling.ts";
import { innermost, type Chain, type Operation, type Placed } from "./scope.ts";
import { errorAt } from "../yaml/file.ts";

const BUILT_IN: Readonly<Record<Operation, { readonly intervalMs: number; readonly timeoutMs: number }>> = {
  vrrp: { intervalMs: 5_000, timeoutMs: 4_000 },
  websites: { intervalMs: 30_000, timeoutMs: 20_000 },
};

type Pace =
  | { readonly kind: "interval"; readonly intervalMs: number }
  | { readonly kind: "schedule"; readonly expression: string };

/**
 * When an operation is due and how long it may take, each from the innermost block that says so, else built in. A
 * timeout that nobody set is never longer than the interval, or than the shortest gap of the schedule.
 */
export function resolveTiming(chain: Chain, operation: Operation): OperationTiming {
  const pace = paceOf(chain, operation)?.value ?? builtInPace(operation);
  const timeoutMs =
    timeoutOf(chain, operation)?.value ?? Math.min(BUILT_IN[operation].timeoutMs, shortestMs(pace));
  return { ...pace, timeoutMs };
}

/** An error where a timeout that is set exceeds its interval or its schedule's shortest gap: at the inner of the two. */
export function checkTiming(chain: Chain, operation: Operation): readonly ConfigError[] {
  const timeout = timeoutOf(chain, operation);
  const pace = paceOf(chain, operation);
  // A block that does not fit is reported, and may hold the very interval or timeout that counts; not if it lies
  // outside of both.
  const outer = Math.min(timeout?.depth ?? 0, pace?.depth ?? 0);
  if (chain.slice(outer).some(({ timing }) => timing[operation] === undefined)) return [];
  const gapMs = shortestMs(pace?.value ?? builtInPace(operation));
  if (!timeout || timeout.value <= gapMs) return [];
  return pace && pace.depth > timeout.depth
    ? [paceError(pace, operation, gapMs, timeout.value)]
    : [timeoutError(timeout, operation, gapMs, pace?.value.kind ?? "interval")];
}

function paceOf(chain: Chain, operation: Operation): Placed<Pace> | undefined {
  return innermost(chain, ({ timing }) => toPace(timing[operation] ?? {}));
}

function toPace({ interval, schedule }: Timing): Pace | undefined {
  if (interval !== undefined) return { kind: "interval", intervalMs: interval };
  return schedule === undefined ? undefined : { kind: "schedule", expression: schedule };
}

function builtInPace(operation: Operation): Pace {
  return { kind: "interval", intervalMs: BUILT_IN[operation].intervalMs };
}

function timeoutOf(chain: Chain, operation: Operation): Placed<number> | undefined {
  return innermost(chain, ({ timing }) => timing[operation]?.timeout);
}

function shortestMs(pace: Pace): number {
  return pace.kind === "interval" ? pace.intervalMs : shortestGapMs(pace.expression);
}

function paceError(pace: Placed<Pace>, operation: Operation, gapMs: number, timeoutMs: number): ConfigError {
  const what = pace.value.kind === "schedule" ? "a schedule whose runs are apart at least" : "at least";
  const message = `expected ${what} the timeout, ${formatDuration(timeoutMs)}, got ${formatDuration(gapMs)}`;
  return errorAt(pace.scope.file, [...pace.scope.path, "polling", operation, pace.value.kind], message);
}

function timeoutError(
  timeout: Placed<number>,
  operation: Operation,
  gapMs: number,
  kind: Pace["kind"],
): ConfigError {
  const limit = kind === "schedule" ? "the shortest time between two runs of the schedule" : "the interval";
  const message = `expected at most ${limit}, ${formatDuration(gapMs)}, got ${formatDuration(timeout.value)}`;
  return errorAt(timeout.scope.file, [...timeout.scope.path, "polling", operation, "timeout"], message);
}
