import { unlink } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

import { readTextFile } from "../../config/read-file.ts";
import { coalesce } from "../../support/coalesce.ts";
import { errorCode } from "../../support/errors.ts";
import type { Logger } from "../../support/log.ts";
import type { VrrpSource, VrrpState } from "../routes.ts";
import { parseDump, type InstanceSettings } from "./dump.ts";
import { findKeepalived, type FoundProcess } from "./process.ts";

export interface KeepalivedOptions {
  /** Of its VRRP process, or of its main process, which forwards the signal. */
  readonly pidFile: string;
  /** The file that it writes on the signal. */
  readonly dumpFile: string;
  /** The signal's number, as `keepalived --signum=JSON` prints it. */
  readonly signal: number;
  /** From the signal to the complete dump. */
  readonly timeoutMs: number;
  /** Settings that the dump does not contain, by instance name. */
  readonly instances: ReadonlyMap<string, InstanceSettings>;
}

/** Sends a signal. Throws as `process.kill` does. */
export type SendSignal = (pid: number, signal: number) => void;

/** Enough for 4096 instances. */
const LIMIT_BYTES = 16 * 1024 * 1024;
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
    const requested = await requestDump(options, send);
    const state = requested.ok ? await readDump(options) : requested;
    const reason = state.ok ? undefined : state.reason;
    if (reason !== lastReason) {
      if (reason === undefined) logger.info("vrrp state is known");
      else logger.warn({ reason }, "vrrp state is not known");
    }
    lastReason = reason;
    return state;
  });
}

function unknown(reason: string) {
  return { ok: false, reason } as const;
}

/** Removes the previous dump first, so that the state is not older than the request. */
async function requestDump(
  { pidFile, dumpFile, signal }: KeepalivedOptions,
  send: SendSignal,
): Promise<FoundProcess> {
  try {
    // Not `rm`: in a sticky directory it reports a wrong reason for a file that it may not remove.
    await unlink(dumpFile);
  } catch (error) {
    const code = errorCode(error);
    if (code !== "ENOENT") return unknown(`${dumpFile}: the previous dump cannot be removed (${code})`);
  }
  // Last, so that nothing happens between this check and the signal.
  const found = await findKeepalived(pidFile, signal);
  try {
    if (found.ok) send(found.pid, signal);
    return found;
  } catch (error) {
    return unknown(`keepalived cannot be signaled (${errorCode(error)})`);
  }
}

/** Reads repeatedly, as keepalived does not write the file atomically. */
async function readDump({ dumpFile, timeoutMs, instances }: KeepalivedOptions): Promise<VrrpState> {
  const untilMs = performance.now() + timeoutMs;
  for (;;) {
    const read = await readTextFile(dumpFile, LIMIT_BYTES);
    const state = read.ok ? parseDump(read.text, instances) : undefined;
    if (state !== undefined) return state.ok ? state : unknown(`${dumpFile}: ${state.reason}`);
    if (performance.now() >= untilMs) {
      const why = read.ok ? "it is incomplete" : read.message;
      return unknown(`keepalived did not dump its state within ${timeoutMs / 1_000} s: ${dumpFile}: ${why}`);
    }
    await delay(READ_EVERY_MS);
  }
}
