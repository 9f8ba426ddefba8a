import { errorCode } from "../support/errors.ts";
import type { Failure, FailureReason } from "./failure.ts";

/** The progress of an attempt to connect; the reason of a failure at the deadline depends on it. */
export type Stage = "lookup" | "connect" | "proxy" | "tls" | "connected";

/** A failed connection, for a reason that has no error code in Node.js. */
export class ConnectionError extends Error {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "ConnectionError";
    this.reason = reason;
  }
}

/** This host lacks a resource; the appliance is not involved. EAI_MEMORY is from a name lookup. */
const SHORTAGE = new Set(["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM", "EAI_MEMORY"]);
/** No local port is left, if all addresses fail with it. For one of several addresses it may mean that IPv6 is missing. */
const NO_PORT = "EADDRNOTAVAIL";

/** The failure reason for an error of a request. */
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
  if (code.startsWith("UND_ERR_")) return "protocol";
  return "internal";
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

/** In the message of a failure. */
export const NO_TLS = "the port does not speak TLS";

/** Whether this host lacked a resource. */
export function isLocalError(error: unknown): boolean {
  const code = errorCode(decisive(error));
  return code === NO_PORT || isShortage(code);
}

function isShortage(code: string | undefined): boolean {
  return code !== undefined && SHORTAGE.has(code);
}

/** The relevant error if attempts on several addresses failed; any other error itself. */
function decisive(error: unknown): unknown {
  if (!(error instanceof AggregateError)) return error;
  const errors: readonly unknown[] = error.errors;
  const shortage = errors.find((each) => isShortage(errorCode(each)));
  return shortage ?? errors.find((each) => errorCode(each) !== NO_PORT) ?? errors[0];
}

/** Whether the name lookup failed. It has many error codes but one system call. */
export function isLookupError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "getaddrinfo";
}
