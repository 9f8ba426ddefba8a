import type { Decoded } from "../api/decoded.ts";
import type { OperationKind, OPERATIONS } from "../api/operations.ts";
import type { PresentedCertificate } from "../client/certificate.ts";
import type { Outcome } from "../client/failure.ts";

type Descriptors = typeof OPERATIONS;
type About<K extends OperationKind> = Descriptors[K]["scope"] extends "website"
  ? { readonly kind: K; readonly websiteId: number }
  : { readonly kind: K };
type DecodedBy<K extends OperationKind> =
  ReturnType<Descriptors[K]["decode"]> extends Decoded<infer Value> ? Value : never;

/** An operation of one appliance. */
export type Operation = { [K in OperationKind]: About<K> }[OperationKind];

/** Tells the operations of one appliance apart. */
export function operationKey(operation: Operation): string {
  return "websiteId" in operation ? `${operation.kind}/${operation.websiteId}` : operation.kind;
}

/** What one poll of an operation yielded. */
export type PollResult = {
  [K in OperationKind]: About<K> & { readonly outcome: Outcome<DecodedBy<K>> };
}[OperationKind];

/** The dated result of one poll. */
export type Observation = PollResult & {
  readonly appliance: string;
  /** Wall clock at the end of the poll, in milliseconds. */
  readonly completedAtMs: number;
  /** The monotonic instant at which the poll began; `undefined` where nothing was sent. */
  readonly sentAtMs: number | undefined;
  /** `undefined` where nothing was sent. */
  readonly durationSeconds: number | undefined;
  /**
   * The monotonic instant from which this must count as stalled: two intervals (or two gaps of the schedule) and one
   * timeout after its end, or after the end of the pause that it brought about.
   */
  readonly expiresAtMs: number;
  readonly certificate: PresentedCertificate | undefined;
};
