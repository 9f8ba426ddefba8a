import { describeBug } from "../support/errors.ts";
import type { Log } from "../support/log.ts";

/** How long the last log lines may take. */
export const FLUSH_TIMEOUT_MS = 1000;

/** A handler for uncaught errors that logs one line. */
export function logFatalError({ logger, flush }: Log): (error: unknown) => Promise<void> {
  return async (error) => {
    logger.error({ detail: describeBug(error) }, "fatal: uncaught error");
    await flush(FLUSH_TIMEOUT_MS);
  };
}

/** The error line for an address that is not available; `code`: Node's error code. */
export function describeListenError(address: string, code: string | undefined): string {
  const why = code === "EADDRINUSE" ? "the address is in use" : (code ?? "unknown error");
  return `cannot listen on ${address}: ${why}\n`;
}
