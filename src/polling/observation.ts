import type { VrrpList } from "../api/vrrp-list.ts";
import type { Protocol } from "../api/website-test.ts";
import type { Outcome } from "../client/failure.ts";
import type { PresentedCertificate } from "../client/certificate.ts";

interface VrrpOperation {
  readonly kind: "vrrp";
}

interface WebsiteTestOperation {
  readonly kind: "website_test";
  readonly websiteId: number;
}

/** What is asked of an appliance. */
export type Operation = VrrpOperation | WebsiteTestOperation;

export type OperationKind = Operation["kind"];

export const OPERATION_KINDS: readonly OperationKind[] = ["vrrp", "website_test"];

/** Tells the operations of one appliance apart. */
export function operationKey(operation: Operation): string {
  return operation.kind === "vrrp" ? "vrrp" : `website_test/${operation.websiteId}`;
}

/** One protocol's status code; 0 where the website gave no HTTP response. */
export interface WebsiteStatus {
  readonly protocol: Protocol;
  readonly status: number;
}

/** What one poll of an operation yielded. */
export type PollResult =
  | (VrrpOperation & { readonly outcome: Outcome<VrrpList> })
  /** One entry for each protocol exported; protocols unique. */
  | (WebsiteTestOperation & { readonly outcome: Outcome<readonly WebsiteStatus[]> });

/** The dated result of one poll. */
export type Observation = PollResult & {
  readonly appliance: string;
  /** Wall clock at the end of the poll, in milliseconds. */
  readonly completedAtMs: number;
  /** `undefined` where nothing was sent. */
  readonly durationSeconds: number | undefined;
  /**
   * The monotonic instant from which this must count as stalled: two intervals (or two gaps of the schedule) and one
   * timeout after its end, or after the end of the pause that it brought about.
   */
  readonly expiresAtMs: number;
  readonly certificate: PresentedCertificate | undefined;
};
