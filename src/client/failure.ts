import { errorCode } from "../support/errors.ts";
import { keysOf } from "../support/keys.ts";

/** What the failure of a poll of the VRRP list means. */
interface Meaning {
  /** The appliance does not answer; it answers, but not to this exporter; or the failure says nothing about the appliance. */
  readonly appliance: "lost" | "refused" | "unknown";
  /** Other polls of the appliance would fail for the same reason, so they are not sent. */
  readonly stopsOtherPolls?: true;
}

/** All reasons why a poll can fail, the values of the label `reason`, and what each means. */
const FAILURES = {
  // The name did not resolve, or the deadline passed during the lookup.
  dns: { appliance: "unknown", stopsOtherPolls: true },
  // The connection was refused or reset, or there is no route.
  connect: { appliance: "lost", stopsOtherPolls: true },
  // The handshake failed, or the certificate is not trusted.
  tls: { appliance: "refused", stopsOtherPolls: true },
  // The deadline passed after the name lookup.
  timeout: { appliance: "lost", stopsOtherPolls: true },
  // The status is 401 or 403.
  auth: { appliance: "refused", stopsOtherPolls: true },
  // The status is another one than 200.
  http_status: { appliance: "refused" },
  // The answer is not HTTP, or is incomplete.
  protocol: { appliance: "refused" },
  // The answer has more bytes, chunks, entries or levels of JSON than the operation's limits allow.
  too_large: { appliance: "refused" },
  // The answer does not match the specification.
  decode: { appliance: "refused" },
  // The appliance lacks the operation.
  unsupported: { appliance: "refused" },
  // The HTTP proxy refused, failed or did not answer.
  proxy: { appliance: "unknown", stopsOtherPolls: true },
  // The password file is missing, not permitted, empty or otherwise invalid.
  secret: { appliance: "unknown" },
  // The poll of a website was not sent, since the VRRP list of its appliance fails.
  appliance_down: { appliance: "lost" },
  // No poll completed for too long; determined when the fleet is read.
  stalled: { appliance: "unknown" },
  // This host is out of descriptors, ports, memory, time or slots, or has an I/O error.
  local: { appliance: "unknown" },
  // The exporter has a bug.
  internal: { appliance: "unknown" },
} as const satisfies Readonly<Record<string, Meaning>>;

export type FailureReason = keyof typeof FAILURES;
export const FAILURE_REASONS = keysOf(FAILURES);

export function meaningOf(reason: FailureReason): Meaning {
  return FAILURES[reason];
}

/** Why a poll failed. `message` is for the log and contains no secret. */
export interface Failure {
  readonly reason: FailureReason;
  readonly message: string;
  /** Of the answer, if one was received. */
  readonly status?: number;
  /** Whether the status means that nothing is at the path: the website is gone. */
  readonly isGone?: true;
  /** Only with 429 and 503. */
  readonly retryAfterMs?: number;
}

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure };

/** The progress of an attempt to connect; the reason of a failure at the deadline depends on it. */
export type Stage = "lookup" | "connect" | "proxy" | "tls" | "connected";

/** A failed connection, for a reason that has no error code in Node.js. */
export class ConnectionError extends Error {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}

/** This host lacks a resource; the appliance is not involved. EAI_MEMORY is from a name lookup. */
const SHORTAGE = new Set<unknown>(["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM", "EAI_MEMORY"]);
/** No local port is left, if all addresses fail with it. For one of several addresses it may mean that IPv6 is missing. */
const NO_PORT = "EADDRNOTAVAIL";

export function classifyError(thrown: unknown, stage: Stage): FailureReason {
  const error = decisive(thrown);
  if (error instanceof ConnectionError) return error.reason;
  // Most errors of undici's parser have a name but no code.
  if (error instanceof Error && error.name === "HTTPParserError") return "protocol";
  const code = errorCode(error);
  if (code === undefined) return "internal";
  if (isLocalError(error)) return "local";
  if (isLookupError(error)) return "dns";
  if (code === "ETIMEDOUT") return "timeout";
  // A TLS alert can also arrive after the handshake: TLS 1.3 rejects client certificates then.
  if (/^(ERR_SSL_|ERR_TLS_|EPROTO$)/.test(code)) return "tls";
  const isOfSystem = /^E[A-Z]+$/.test(code);
  if (isOfSystem) return "connect";
  if (stage === "tls") return "tls";
  return code.startsWith("UND_ERR_") ? "protocol" : "internal";
}

/** The failure of a deadline that passes at this stage; `password`: before the request is sent. */
export const DEADLINE_FAILURES: Readonly<Record<Stage | "password", Failure>> = {
  password: { reason: "secret", message: "the password file was still being read" },
  lookup: { reason: "dns", message: "the name was still being looked up" },
  connect: { reason: "timeout", message: "the connection was still being made" },
  proxy: { reason: "proxy", message: "the proxy had not answered CONNECT" },
  tls: { reason: "timeout", message: "the TLS handshake was not finished" },
  connected: { reason: "timeout", message: "the appliance was connected" },
};

/** In the message of a failure. */
export const NO_TLS = "the port does not speak TLS";

/** An error as one line for the log: code and message, and those of its cause. Contains no header and no body. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  const code = errorCode(error);
  // OpenSSL's messages contain thread ids and build paths; `reason` is the readable part.
  const isOpenSsl = code?.startsWith("ERR_SSL_") === true && "reason" in error;
  const reason = isOpenSsl
    ? String(error.reason)
    : error.message.replace(" - Local (undefined:undefined)", "");
  const message = code === "ERR_SSL_WRONG_VERSION_NUMBER" ? NO_TLS : reason;
  const own = code === undefined || message.includes(code) ? message : `${code}: ${message}`;
  return error.cause instanceof Error ? `${own} (${describeError(error.cause)})` : own;
}

export function isLocalError(error: unknown): boolean {
  const code = errorCode(decisive(error));
  return code === NO_PORT || SHORTAGE.has(code);
}

/** The relevant error if attempts on several addresses failed; any other error itself. */
function decisive(error: unknown): unknown {
  if (!(error instanceof AggregateError)) return error;
  const errors: readonly unknown[] = error.errors;
  const shortage = errors.find((each) => SHORTAGE.has(errorCode(each)));
  return shortage ?? errors.find((each) => errorCode(each) !== NO_PORT) ?? errors[0];
}

/** Whether the name lookup failed. It has many error codes but one system call. */
export function isLookupError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "getaddrinfo";
}
