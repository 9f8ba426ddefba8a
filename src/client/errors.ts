import { errorCode } from "../support/errors.ts";
import type { FailureReason } from "./failure.ts";

/** How far an attempt to connect has come; what a deadline that strikes is called depends on it. */
export type Stage = "lookup" | "connect" | "proxy" | "tls" | "connected";

/** A connection that was not made, for a reason that has no error code of the runtime. */
export class ConnectionError extends Error {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "ConnectionError";
    this.reason = reason;
  }
}

/** This host is short of something; the appliance has nothing to do with it. EAI_MEMORY: in a name look-up. */
const SHORTAGE = new Set(["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM", "EAI_MEMORY"]);
/** Likewise, where all addresses fail so: no port is left. For one address of several it may be the lack of IPv6. */
const NO_PORT = "EADDRNOTAVAIL";

const UNREACHED = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EHOSTUNREACH",
  "EHOSTDOWN",
  "ENETUNREACH",
  "ENETDOWN",
  "EPIPE",
  "EACCES",
  "EPERM",
]);

/** The reason for an error of a request; errors are told apart by code where they have one. */
export function classifyError(thrown: unknown, stage: Stage): FailureReason {
  const error = decisive(thrown);
  if (error instanceof ConnectionError) return error.reason;
  if (isParserError(error)) return "protocol";
  const code = errorCode(error);
  if (code === undefined) return "internal";
  if (isLocalError(error)) return "local";
  if (isLookupError(error)) return "dns";
  if (code === "ETIMEDOUT") return "timeout";
  if (UNREACHED.has(code)) return "connect";
  // A TLS alert may also arrive after the handshake: TLS 1.3 refuses client certificates then.
  if (stage === "tls" || /^(ERR_SSL_|ERR_TLS_|EPROTO$)/.test(code)) return "tls";
  if (code.startsWith("UND_ERR_")) return "protocol";
  return "internal";
}

/** What a deadline is called that strikes at this stage. */
export function classifyDeadline(stage: Stage): FailureReason {
  switch (stage) {
    case "lookup":
      return "dns";
    case "proxy":
      return "proxy";
    case "connect":
    case "tls":
    case "connected":
      return "timeout";
    default:
      return stage satisfies never;
  }
}

/** An error as one line for the log: its code and message, and those of its cause. Holds no header and no body. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  const code = errorCode(error);
  // OpenSSL's messages are full of thread ids and paths of its build; its reason is what they mean.
  const isOpenSsl = code?.startsWith("ERR_SSL_") === true && "reason" in error;
  const message = isOpenSsl ? String(error.reason) : error.message;
  const own = code === undefined || message.includes(code) ? message : `${code}: ${message}`;
  return error.cause instanceof Error ? `${own} (${describeError(error.cause)})` : own;
}

/** undici gives the parser's errors a name and, for most of them, no code. */
function isParserError(error: unknown): boolean {
  return error instanceof Error && error.name === "HTTPParserError";
}

/** Whether this host was short of something. */
export function isLocalError(error: unknown): boolean {
  const code = errorCode(decisive(error));
  return code === NO_PORT || isShortage(code);
}

function isShortage(code: string | undefined): boolean {
  return code !== undefined && SHORTAGE.has(code);
}

/** Where attempts on several addresses failed, the error that decides; any other error itself. */
function decisive(error: unknown): unknown {
  if (!(error instanceof AggregateError)) return error;
  const errors: readonly unknown[] = error.errors;
  const shortage = errors.find((each) => isShortage(errorCode(each)));
  return shortage ?? errors.find((each) => errorCode(each) !== NO_PORT) ?? errors[0];
}

/** Whether it was the name look-up that failed; its codes are many, its system call is one. */
export function isLookupError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "getaddrinfo";
}
