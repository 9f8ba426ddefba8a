import { errorCode } from "../../support/errors.ts";
import type { Failure, FailureReason } from "../api/failure.ts";

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
