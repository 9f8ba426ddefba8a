import {
  backoffAfter,
  NO_BACKOFF,
  pausedUntilMs,
  refusedUntilMs,
  withoutRefusals,
  type FinishedPoll,
} from "./backoff.ts";
import type { Clock } from "../support/clock.ts";

/** Which operations of one appliance rest, and until when. Operations by their `operationKey`, instants monotonic. */
export interface Pauses {
  /** Takes in the end of a poll. */
  ended(poll: FinishedPoll): void;
  /** Until when the operation rests; `undefined` if it does not. */
  untilMs(operation: string): number | undefined;
  /** Whether the operation rests because the credentials were refused. */
  isRefused(operation: string): boolean;
  /**
   * Whether the operation rests now. Pauses for refused credentials end as soon as there are others, which
   * `hasNewCredentials` is asked where the operation rests for that.
   */
  rests(operation: string, hasNewCredentials: () => Promise<boolean>): Promise<boolean>;
  /** When the latest pause of every operation ends, or ended; 0 if there was none since the credentials were accepted. */
  allUntilMs(): number;
  /** Ends all pauses for refused credentials. */
  forgetRefusals(): void;
}

export function createPauses(clock: Clock): Pauses {
  let backoff = NO_BACKOFF;

  const untilMs = (operation: string): number | undefined =>
    pausedUntilMs(backoff, operation, clock.monotonicMs());
  const isRefused = (operation: string): boolean =>
    refusedUntilMs(backoff, operation, clock.monotonicMs()) !== undefined;

  function forgetRefusals(): void {
    backoff = withoutRefusals(backoff);
  }

  return {
    ended: (poll) => (backoff = backoffAfter(backoff, poll)),
    untilMs,
    isRefused,
    rests: async (operation, hasNewCredentials) => {
      if (isRefused(operation) && (await hasNewCredentials())) forgetRefusals();
      return untilMs(operation) !== undefined;
    },
    allUntilMs: () => backoff.everything?.untilMs ?? 0,
    forgetRefusals,
  };
}
