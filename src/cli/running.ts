import { createLog, type Log, type LogFormat, type LogLevel } from "../support/log.ts";
import { describeBug } from "../support/errors.ts";
import type { Io } from "./io.ts";

/** Opens the log; an uncaught error becomes its last line, before `cleanUp`. */
export function openLog(
  level: LogLevel,
  format: LogFormat,
  io: Io,
  cleanUp: () => Promise<void> = () => Promise.resolve(),
): Log {
  const log = createLog(level, format, io.logFd);
  io.onFatal(async (error) => {
    log.logger.error({ detail: describeBug(error) }, "fatal: uncaught error");
    await log.flush();
    await cleanUp();
  });
  return log;
}

/** Resolves when the command shall stop, or at SIGHUP: without a configuration to reload, the terminal was closed. */
export function stopOrHangUp({ stopRequested, onReload }: Io): Promise<void> {
  return Promise.race([stopRequested, new Promise<void>((resolve) => onReload(resolve))]);
}
