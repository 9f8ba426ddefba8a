import { errorCode } from "../../support/errors.ts";
import type { FailureCode } from "../api/advice.ts";
import type { Failure, FailureReason } from "../api/failure.ts";

/** The progress of an attempt to connect; the reason of a failure at the deadline depends on it. */
export type Stage = "lookup" | "connect" | "proxy" | "tls" | "connected";

/** A failed connection, for a reason that has no error code in Node.js. */
export class ConnectionError extends Error {
  readonly reason: FailureReason;
  /** @see Failure */
  readonly detail: FailureCode | undefined;

  constructor(reason: FailureReason, message: string, detail?: FailureCode) {
    super(message);
    this.reason = reason;
    this.detail = detail;
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
  const reason = reasonOf(error, stage);
  const code = isOfProxy ? undefined : detailOf(error, reason);
  return {
    reason,
    ...(code && { code }),
    message: isOfProxy ? `the proxy does not connect (${words})` : words,
  };
}

/** The failure of a connection that the peer has closed before its answer began; else `undefined`. */
export function closedFailure(error: unknown): Failure | undefined {
  const isClosed = error instanceof Error && error.message === "other side closed";
  return isClosed
    ? { reason: "connect", code: "closed", message: "the connection was closed without an answer" }
    : undefined;
}

/** The codes of Node.js whose failures have advice of their own, by the reason. */
const DETAILS: Readonly<Partial<Record<FailureReason, readonly (readonly [RegExp, FailureCode])[]>>> = {
  dns: [[/^ENOTFOUND$/, "unknown_host"]],
  connect: [
    [/^ECONNREFUSED$/, "refused"],
    [/^E(HOST|NET)(UNREACH|DOWN)$/, "unreachable"],
    [/^(ECONNRESET|EPIPE)$/, "reset"],
  ],
  tls: [
    [/^ERR_SSL_WRONG_VERSION_NUMBER$/, "no_tls"],
    [
      /UNSUPPORTED_PROTOCOL|ALERT_PROTOCOL_VERSION|UNSAFE_LEGACY_RENEGOTIATION|_TOO_SMALL|LEGACY_SIGALG|WRONG_SIGNATURE_TYPE/,
      "legacy_tls",
    ],
    [/ALERT_HANDSHAKE_FAILURE/, "no_common_cipher"],
    [/UNRECOGNIZED_NAME/, "unknown_name"],
    [
      /ALERT_(CERTIFICATE_REQUIRED|(BAD|UNSUPPORTED|NO)_CERTIFICATE|CERTIFICATE_\w+|UNKNOWN_CA)/,
      "client_certificate",
    ],
  ],
};

function detailOf(error: unknown, reason: FailureReason): FailureCode | undefined {
  if (error instanceof ConnectionError) return error.detail;
  const code = errorCode(error);
  return code === undefined ? undefined : DETAILS[reason]?.find(([codes]) => codes.test(code))?.[1];
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

function describe(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  const code = errorCode(error);
  if (code === INVALID_STATUS) return "the answer has a status that is invalid for this request";
  if (code === WRONG_VERSION) return `${WRONG_VERSION}: the port does not speak TLS`;
  // OpenSSL's messages contain thread ids and build paths; `reason` is the readable part.
  const isOpenSsl = code?.startsWith("ERR_SSL_") === true && "reason" in error;
  const message = isOpenSsl ? String(error.reason) : error.message.replace(/ - Local .*$/, "");
  return code === undefined || message.includes(code) ? message : `${code}: ${message}`;
}
