import type { FailureCode } from "./advice.ts";
import { keysOf } from "../../support/keys.ts";

/** The meaning of a failure of the VRRP list. */
interface Meaning {
  /**
   * The state of the appliance. If it is `lost`, the appliance does not answer. If it is `refused`, the appliance answers, but not to this
   * exporter. If it is `unknown`, the cause is elsewhere. If it is `unwatched`, nobody asks it.
   */
  readonly appliance: "lost" | "refused" | "unknown" | "unwatched";
  /** Whether other polls of the appliance would fail for the same reason, so that they are not sent. */
  readonly stopsOtherPolls?: true;
  /** Whether no connection was made or kept, which says nothing about the operation that was polled. */
  readonly isCutOff?: true;
}

/** All reasons why a poll can fail, the values of the label `reason`. */
const FAILURES = {
  dns: { appliance: "unknown", stopsOtherPolls: true, isCutOff: true }, // the name does not resolve in time, or at all
  connect: { appliance: "lost", stopsOtherPolls: true, isCutOff: true }, // the connection is refused or reset, or the address is unreachable
  tls: { appliance: "refused", stopsOtherPolls: true, isCutOff: true }, // the handshake fails, or the certificate is not trusted
  timeout: { appliance: "lost", stopsOtherPolls: true }, // the deadline passes after the name lookup
  auth: { appliance: "refused", stopsOtherPolls: true }, // the status is 401 or 403
  http_status: { appliance: "refused" }, // the status is any other except 200
  protocol: { appliance: "refused" }, // the answer is not HTTP, or is incomplete
  too_large: { appliance: "refused" }, // the answer has more bytes, chunks or items than the operation's limits allow
  decode: { appliance: "refused" }, // the answer does not match the specification
  unsupported: { appliance: "refused" }, // the appliance lacks the operation
  vip: { appliance: "refused", stopsOtherPolls: true }, // the answer comes from a VIP or alias, so it may be that of another member
  proxy: { appliance: "unknown", stopsOtherPolls: true, isCutOff: true }, // the HTTP proxy refuses, fails or does not answer
  secret: { appliance: "unknown" }, // the password file is missing, not permitted, empty or otherwise invalid
  appliance_down: { appliance: "lost" }, // the poll of a website is not sent, or ended, since the VRRP list fails
  stalled: { appliance: "unknown" }, // no poll completes for too long, which is determined when the fleet is read
  not_scheduled: { appliance: "unwatched" }, // the schedule has no poll for long, which is determined when the fleet is read
  local: { appliance: "unknown" }, // this host is out of descriptors, ports, memory, time or slots, or has an I/O error
  internal: { appliance: "unknown" }, // the exporter has a bug
} as const satisfies Readonly<Record<string, Meaning>>;

export type FailureReason = keyof typeof FAILURES;
export const FAILURE_REASONS = keysOf(FAILURES);

export function meaningOf(reason: FailureReason): Meaning {
  return FAILURES[reason];
}

/** A failed poll. `message` is for the log and contains no secret. */
export interface Failure {
  readonly reason: FailureReason;
  /** What it is in detail, where that has advice of its own. */
  readonly code?: FailureCode;
  readonly message: string;
  /** What the user needs on the appliance, where the failure may be the lack of it: `the privilege "Status"`. */
  readonly permission?: string | undefined;
  /** The status of the answer, if one was received. */
  readonly status?: number;
  /** Whether the status means that nothing is at the path: the website is gone. */
  readonly isGone?: true;
  /** The delay that an answer with status 429 or 503 requests. */
  readonly retryAfterMs?: number;
  /** The Unix time in milliseconds of the next poll, where the schedule has none before. */
  readonly restsUntilMs?: number;
}

/** A value, or the failure instead of it: of a request, of its decoded answer, of a poll. What returns it never throws. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure };
