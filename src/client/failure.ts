/**
 * Every way in which a poll can fail: the values of the label `reason`.
 *
 * - `dns`: the name did not resolve, or the deadline struck while it was looked up
 * - `connect`: refused, unreachable, reset
 * - `tls`: handshake failed, or the certificate is not to be trusted
 * - `timeout`: the deadline struck, once the name was known
 * - `auth`: 401, 403
 * - `http_status`: any other status but 200
 * - `protocol`: what answered does not speak HTTP, or broke off in the middle
 * - `too_large`: more bytes, chunks, interfaces, levels or members than the operation's limits allow
 * - `decode`: not the answer the specification describes
 * - `proxy`: the HTTP proxy refused, failed or stayed silent
 * - `secret`: the password file is missing, not permitted, empty or otherwise unfit
 * - `appliance_down`: a website test that was not sent, because the VRRP poll cannot reach or enter the appliance
 * - `stalled`: no poll completed for too long; judged when the fleet is read
 * - `local`: this host: out of descriptors, ports, memory, time or free slots of its own, or an I/O error
 * - `internal`: a bug of ours
 */
export const FAILURE_REASONS = [
  "dns",
  "connect",
  "tls",
  "timeout",
  "auth",
  "http_status",
  "protocol",
  "too_large",
  "decode",
  "proxy",
  "secret",
  "appliance_down",
  "stalled",
  "local",
  "internal",
] as const;

export type FailureReason = (typeof FAILURE_REASONS)[number];

/** Why a poll failed. `reason` is for machines and bounded; `message` is for the log and holds no secret. */
export interface Failure {
  readonly reason: FailureReason;
  readonly message: string;
  /** The status code, where one came. */
  readonly status?: number;
  /** What the answer's Retry-After asks for, with 429 and 503 alone. */
  readonly retryAfterMs?: number;
}

/** What a request or a poll yields. */
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

/** Whether a VRRP poll that failed so means that the appliance can be neither reached nor entered. */
export function meansApplianceDown(reason: FailureReason): boolean {
  return APPLIANCE_DOWN.has(reason);
}
