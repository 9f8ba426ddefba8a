import { backoffAfter, NO_BACKOFF, pausedUntilMs, withoutAuthPause, type FinishedPoll } from "./backoff.ts";
import type { Clock } from "./clock.ts";

/** Which operations of one appliance rest, and until when. Operations by their `operationKey`, instants monotonic. */
export interface Pauses {
  /** Learns from a poll that has ended. */
  ended(poll: FinishedPoll): void;
  /** Until when the operation rests; `undefined` where it does not. */
  untilMs(operation: string): number | undefined;
  /** Whether all operations rest because the credentials were refused. */
  isRefused(): boolean;
  /**
   * Whether the operation rests now. A pause for refused credentials is over as soon as there are others, which is asked
   * of `hasNewCredentials` where there is such a pause.
   */
  rests(operation: string, hasNewCredentials: () => Promise<boolean>): Promise<boolean>;
  /** Ends a pause for refused credentials. */
  forgetRefusal(): void;
}

export function createPauses(clock: Clock): Pauses {
  let backoff = NO_BACKOFF;

  const untilMs = (operation: string): number | undefined =>
    pausedUntilMs(backoff, operation, clock.monotonicMs());

  function forgetRefusal(): void {
    backoff = withoutAuthPause(backoff);
  }

  return {
    ended: (poll) => (backoff = backoffAfter(backoff, poll)),
    untilMs,
    isRefused: () => (backoff.auth?.untilMs ?? 0) > clock.monotonicMs(),
    rests: async (operation, hasNewCredentials) => {
      if (untilMs(operation) === undefined) return false;
      if (backoff.auth !== undefined && (await hasNewCredentials())) forgetRefusal();
      return untilMs(operation) !== undefined;
    },
    forgetRefusal,
  };
}
