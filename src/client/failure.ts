import { errorCode } from "../support/errors.ts";

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

/** Why a poll failed. `message` is for the log and contains no secret. */
export interface Failure {
  readonly reason: FailureReason;
  readonly message: string;
  /** Of the answer, if one was received. */
  readonly status?: number;
  /** Only with 429 and 503. */
  readonly retryAfterMs?: number;
}

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure };

const APPLIANCE_DOWN = new Set<FailureReason>(["dns", "connect", "tls", "timeout", "proxy", "auth"]);

/** Whether a VRRP poll that failed for this reason means that the appliance is unreachable or unauthorized. */
export function meansApplianceDown(reason: FailureReason): boolean {
  return APPLIANCE_DOWN.has(reason);
}

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
