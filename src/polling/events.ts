import type { Observation, OperationKind } from "./observation.ts";

/** Why a poll that was due was not made. */
export const SKIP_REASONS = ["overlap", "backoff", "missed"] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** The port through which polling tells what it does; implemented by those who measure and remember. */
export interface PollEvents {
  /** A poll begins, `latenessSeconds` after it was due; waiting for a free slot counts. */
  started(kind: OperationKind, latenessSeconds: number): void;
  /** A poll has ended; also called, without `started`, for a website test that was not sent. */
  observed(observation: Observation): void;
  /** `count` polls of an operation were due and not made. */
  skipped(kind: OperationKind, reason: SkipReason, count: number): void;
  /** A poll that had started is over, whether it was observed or its appliance was taken away meanwhile. */
  ended(kind: OperationKind, durationSeconds: number): void;
}
