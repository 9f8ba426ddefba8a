import type { Observation } from "./observation.ts";
import type { OperationKind } from "../api/operations.ts";

/** Why a poll that was due was not made. */
export const SKIP_REASONS = ["overlap", "backoff", "missed"] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** The port through which polling tells what it does; implemented by those who measure and remember. */
export interface PollEvents {
  /** A poll begins, `latenessSeconds` after it was due; waiting for a free slot or a connection counts. */
  started(kind: OperationKind, latenessSeconds: number): void;
  /** What a poll yielded; also, without `started`, for a poll that was not sent because it would be in vain. */
  observed(observation: Observation): void;
  /** `count` polls of an operation were due and not made. */
  skipped(kind: OperationKind, reason: SkipReason, count: number): void;
  /** A poll that had started is over, whether it was observed or its appliance was taken away meanwhile. */
  ended(kind: OperationKind, durationSeconds: number): void;
}
