/** All reasons why a poll can fail: the values of the label `reason`. */
export const FAILURE_REASONS = [
  "dns", // the name did not resolve, or the deadline passed during the lookup
  "connect", // refused, unreachable, reset
  "tls", // the handshake failed, or the certificate is not trusted
  "timeout", // the deadline passed after the name lookup
  "auth", // 401, 403
  "http_status", // any other status except 200
  "protocol", // the answer is not HTTP, or is incomplete
  "too_large", // more bytes, chunks, interfaces, levels or members than the operation's limits allow
  "decode", // the answer does not match the specification
  "unsupported", // the appliance lacks the operation
  "proxy", // the HTTP proxy refused, failed or did not answer
  "secret", // the password file is missing, not permitted, empty or otherwise invalid
  "appliance_down", // a website test was not sent because the appliance is unreachable or unauthorized
  "stalled", // no poll completed for too long; determined when the fleet is read
  "local", // this host is out of descriptors, ports, memory, time or slots, or has an I/O error
  "internal", // a bug in the exporter
] as const;

export type FailureReason = (typeof FAILURE_REASONS)[number];

/** Why a poll failed. `reason` is one of a closed set; `message` is for the log and contains no secret. */
export interface Failure {
  readonly reason: FailureReason;
  readonly message: string;
  /** The status code, if one was received. */
  readonly status?: number;
  /** The answer's Retry-After, only with 429 and 503. */
  readonly retryAfterMs?: number;
}

/** The result of a request or a poll. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure };

const APPLIANCE_DOWN: ReadonlySet<FailureReason> = new Set([
  "dns",
  "connect",
  "tls",
  "timeout",
  "proxy",
  "auth",
] satisfies FailureReason[]);

/** Whether a VRRP poll that failed for this reason means that the appliance is unreachable or unauthorized. */
export function meansApplianceDown(reason: FailureReason): boolean {
  return APPLIANCE_DOWN.has(reason);
}
