import {
  backoffAfter,
  NO_BACKOFF,
  backoffUntilMs,
  refusedUntilMs,
  withoutRefusals,
  type FinishedPoll,
} from "./backoff.ts";
import type { Clock } from "../support/clock.ts";

/** The backoff of one appliance over time. Operations by `operationKey`, instants monotonic. */
export interface BackoffState {
  /** Records the result of a poll. */
  ended(poll: FinishedPoll): void;
  /** The end of the operation's backoff; `undefined` if there is none. */
  untilMs(operation: string): number | undefined;
  /** Whether the operation backs off because of refused credentials. */
  isRefused(operation: string): boolean;
  /**
   * Whether the operation backs off now. Backoff for refused credentials ends if `hasNewCredentials`, which is called only
   * in that case.
   */
  isBackingOff(operation: string, hasNewCredentials: () => Promise<boolean>): Promise<boolean>;
  /** The end of the latest backoff of every operation, possibly past; 0 if none since the credentials were accepted. */
  allUntilMs(): number;
  /** Ends all backoff for refused credentials. */
  forgetRefusals(): void;
}

export function createBackoffState(clock: Clock): BackoffState {
  let backoff = NO_BACKOFF;

  const untilMs = (operation: string): number | undefined =>
    backoffUntilMs(backoff, operation, clock.monotonicMs());
  const isRefused = (operation: string): boolean =>
    refusedUntilMs(backoff, operation, clock.monotonicMs()) !== undefined;

  function forgetRefusals(): void {
    backoff = withoutRefusals(backoff);
  }

  return {
    ended: (poll) => (backoff = backoffAfter(backoff, poll)),
    untilMs,
    isRefused,
    isBackingOff: async (operation, hasNewCredentials) => {
      if (isRefused(operation) && (await hasNewCredentials())) forgetRefusals();
      return untilMs(operation) !== undefined;
    },
    allUntilMs: () => backoff.everything?.untilMs ?? 0,
    forgetRefusals,
  };
}
