import type { Operation, OperationKind, OperationValues } from "../api/operation.ts";
import type { PresentedCertificate } from "../client/tls.ts";
import type { Outcome } from "../api/failure.ts";
import type { End } from "./instants.ts";

/** The result of one poll, with its time and its end. `Observation<unknown>` is one that is not dated yet. */
export type Observation<Times = ObservationTimes> = {
  [K in OperationKind]: Extract<Operation, { readonly kind: K }> & {
    readonly outcome: Outcome<OperationValues[K]>;
  };
}[OperationKind] &
  Times;

/**
 * The end counts from the end of the poll, or of the backoff that it caused. Duration and beginning are `undefined` if nothing was sent; a
 * poll that was ended because its appliance is down has no duration.
 */
interface ObservationTimes extends End {
  readonly appliance: string;
  /** Wall clock at the end of the poll, in milliseconds. */
  readonly completedAtMs: number;
  /** Whether something else than its schedule called for the poll. Such a result never calls for another poll. */
  readonly isOutOfTurn: boolean;
  /** The monotonic instant at which the poll began. */
  readonly sentAtMs: number | undefined;
  /** `sentAtMs` of the previous observation of the operation or, if nothing was sent then, the instant of that observation. */
  readonly sinceMs: number | undefined;
  readonly durationSeconds: number | undefined;
  readonly certificate: PresentedCertificate | undefined;
}

/** The reasons for which a due poll is skipped. */
export const SKIP_REASONS = ["overlap", "backoff", "missed"] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** Receives the events of polling. */
export interface PollEvents {
  /** A poll begins, `latenessSeconds` after it was due; includes the wait for a slot or a connection. */
  started(kind: OperationKind, latenessSeconds: number): void;
  /** The result of a poll; also, without `started`, of a poll that was not sent. */
  observed(observation: Observation): void;
  /** `count` polls of an operation were due and not made. */
  skipped(kind: OperationKind, reason: SkipReason, count: number): void;
  /** A started poll has ended, observed or not: its appliance may have been removed meanwhile. */
  ended(kind: OperationKind, durationSeconds: number): void;
}
