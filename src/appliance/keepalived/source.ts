import { unlink } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

import { readTextFile } from "../../config/read-file.ts";
import { coalesce } from "../../support/coalesce.ts";
import { errorCode } from "../../support/errors.ts";
import type { Logger } from "../../support/log.ts";
import type { VrrpConfig } from "../config.ts";
import type { VrrpSource, VrrpState } from "../routes.ts";
import { parseDump } from "./dump.ts";
import { findKeepalived, UnknownState } from "./process.ts";

/** What the configuration says of keepalived. */
export type KeepalivedOptions = Omit<Extract<VrrpConfig, { source: "keepalived" }>, "source">;

/** Sends a signal. Throws as `process.kill` does. */
export type SendSignal = (pid: number, signal: number) => void;

const READ_EVERY_MS = 3;

/**
 * A source that makes keepalived dump its state. Simultaneous requests share one dump, which never starts before the request.
 * Logs whether the state is known, and why not, when that changes.
 */
export function createKeepalivedSource(
  options: KeepalivedOptions,
  send: SendSignal,
  logger: Pick<Logger, "info" | "warn">,
): VrrpSource {
  let lastReason: string | undefined;
  return coalesce(async () => {
    const state = await dumpState(options, send).catch((error: unknown): VrrpState => {
      if (error instanceof UnknownState) return { ok: false, reason: error.message };
      throw error;
    });
    const reason = state.ok ? undefined : state.reason;
    if (reason !== lastReason) {
      if (reason === undefined) logger.info("vrrp state is known");
      else logger.warn({ reason }, "vrrp state is not known");
    }
    lastReason = reason;
    return state;
  });
}

async function dumpState(options: KeepalivedOptions, send: SendSignal): Promise<VrrpState> {
  const { pidFile, dumpFile, signal, timeoutMs, instances } = options;
  await removeDump(dumpFile);
  // Last, so that nothing happens between this check and the signal.
  const pid = await findKeepalived(pidFile, signal);
  try {
    send(pid, signal);
  } catch (error) {
    throw new UnknownState(`keepalived (process ${pid}) cannot be signaled (${errorCode(error)})`);
  }
  const untilMs = performance.now() + timeoutMs;
  // Reads repeatedly, as keepalived does not write the file atomically.
  for (;;) {
    const read = await readTextFile(dumpFile);
    const state = read.ok ? parseDump(read.text, instances) : undefined;
    if (state?.ok === true) return state;
    if (state !== undefined) throw new UnknownState(`${dumpFile}: ${state.reason}`);
    if (performance.now() >= untilMs) {
      const why = `${dumpFile}: ${read.ok ? "it is incomplete" : read.message}`;
      throw new UnknownState(`keepalived did not dump its state within ${timeoutMs / 1_000} s: ${why}`);
    }
    await delay(READ_EVERY_MS);
  }
}

/** Removes the previous dump, so that the state is not older than the request. */
async function removeDump(dumpFile: string): Promise<void> {
  try {
    // Not `rm`: in a sticky directory it reports a wrong reason for a file that it may not remove.
    await unlink(dumpFile);
  } catch (error) {
    const code = errorCode(error);
    if (code !== "ENOENT")
      throw new UnknownState(`${dumpFile}: the previous dump cannot be removed (${code})`);
  }
}
