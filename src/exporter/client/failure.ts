import { errorCode } from "../../support/errors.ts";
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
  readonly message: string;
  /** The status of the answer, if one was received. */
  readonly status?: number;
  /** Whether the status means that nothing is at the path: the website is gone. */
  readonly isGone?: true;
  /** The delay that an answer with status 429 or 503 requests. */
  readonly retryAfterMs?: number;
  /** The Unix time in milliseconds of the next poll, where the schedule has none before. */
  readonly restsUntilMs?: number;
}

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure };

/** The progress of an attempt to connect; the reason of a failure at the deadline depends on it. */
export type Stage = "lookup" | "connect" | "proxy" | "tls" | "connected";

/** A failed connection, for a reason that has no error code in Node.js. */
export class ConnectionError extends Error {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The failure at a deadline that passes at this stage; `password` is the stage before the request is sent. */
export const DEADLINE_FAILURES: Readonly<Record<Stage | "password", Failure>> = {
  password: { reason: "secret", message: "the password file was still being read" },
  lookup: { reason: "dns", message: "the name was still being looked up" },
  connect: { reason: "timeout", message: "the connection was still being made" },
  proxy: { reason: "proxy", message: "the proxy had not answered CONNECT" },
  tls: { reason: "timeout", message: "the TLS handshake was not finished" },
  connected: { reason: "timeout", message: "the appliance was connected" },
};

/** Returns the failure for an error of Node.js or undici at this stage. The message is one line without a header or a body. */
export function failureFrom(thrown: unknown, stage: Stage): Failure {
  const error = decisive(thrown);
  const words = describe(error);
  const isOfProxy = stage === "proxy" && !(error instanceof ConnectionError);
  return {
    reason: reasonOf(error, stage),
    message: isOfProxy ? `the proxy does not connect (${words})` : words,
  };
}

/** The codes of errors in which this host lacks a resource, and the appliance is not involved. EAI_MEMORY is from a name lookup. */
const SHORTAGE = new Set<unknown>(["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM", "EAI_MEMORY"]);
/** If all addresses fail with this code, no local port is left. If only one address among several does, IPv6 may be missing. */
const NO_PORT = "EADDRNOTAVAIL";

/** Returns the relevant error if attempts on several addresses failed; any other error itself. */
function decisive(error: unknown): unknown {
  if (!(error instanceof AggregateError)) return error;
  const errors: readonly unknown[] = error.errors;
  const shortage = errors.find((each) => SHORTAGE.has(errorCode(each)));
  return shortage ?? errors.find((each) => errorCode(each) !== NO_PORT) ?? errors[0];
}

function reasonOf(error: unknown, stage: Stage): FailureReason {
  if (error instanceof ConnectionError) return error.reason;
  // Most errors of undici's parser have a name but no code.
  if (error instanceof Error && error.name === "HTTPParserError") return "protocol";
  const code = errorCode(error);
  if (code === undefined) return "internal";
  if (code === NO_PORT || SHORTAGE.has(code)) return "local";
  if (stage === "lookup") return "dns";
  if (stage === "proxy") return "proxy";
  if (code === "ETIMEDOUT") return "timeout";
  // A TLS alert can also arrive after the handshake: TLS 1.3 rejects client certificates then.
  if (/^(ERR_SSL_|ERR_TLS_|EPROTO$)/.test(code)) return "tls";
  const isOfSystem = /^E[A-Z]+$/.test(code);
  if (isOfSystem) return "connect";
  if (stage === "tls") return "tls";
  return code === INVALID_STATUS || code.startsWith("UND_ERR_") ? "protocol" : "internal";
}

/** undici's parser asserts that an answer has no status below 100 and no unexpected 101. */
const INVALID_STATUS = "ERR_ASSERTION";
const WRONG_VERSION = "ERR_SSL_WRONG_VERSION_NUMBER";
/** This part of the message of a failure has advice of its own. */
export const NO_TLS = "the port does not speak TLS";

function describe(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  const code = errorCode(error);
  if (code === INVALID_STATUS) return "the answer has a status that is invalid for this request";
  if (code === WRONG_VERSION) return `${WRONG_VERSION}: ${NO_TLS}`;
  // OpenSSL's messages contain thread ids and build paths; `reason` is the readable part.
  const isOpenSsl = code?.startsWith("ERR_SSL_") === true && "reason" in error;
  const message = isOpenSsl ? String(error.reason) : error.message.replace(/ - Local .*$/, "");
  return code === undefined || message.includes(code) ? message : `${code}: ${message}`;
}
