import { describeBug } from "../support/errors.ts";
import type { Log } from "../support/log.ts";

/** How long the last lines of the log may take to be written. */
export const FLUSH_TIMEOUT_MS = 1000;

/** What a running command does with an error that nobody caught: one line, before the process ends. */
export function logLastWords({ logger, flush }: Log): (error: unknown) => Promise<void> {
  return async (error) => {
    logger.error({ detail: describeBug(error) }, "fatal: nobody caught this error");
    await flush(FLUSH_TIMEOUT_MS);
  };
}

/** The one line that tells why an address cannot be listened on; `code`: of the runtime. */
export function describeListenError(address: string, code: string | undefined): string {
  const why = code === "EADDRINUSE" ? "the address is in use" : (code ?? "unknown error");
  return `cannot listen on ${address}: ${why}\n`;
}
