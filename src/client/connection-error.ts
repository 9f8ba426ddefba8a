import type { FailureReason } from "./failure.ts";

/** A connection that was not made, for a reason that no error code of the runtime tells. */
export class ConnectionError extends Error {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "ConnectionError";
    this.reason = reason;
  }
}
