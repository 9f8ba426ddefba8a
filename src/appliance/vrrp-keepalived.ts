import { unlink } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

import { errorCode } from "../support/errors.ts";
import { readTextFile } from "../config/read-file.ts";
import { parseDump, type Dump } from "./keepalived/dump.ts";
import { toInterfaces, type InstanceSettings } from "./keepalived/mapping.ts";
import { findKeepalived } from "./keepalived/process.ts";
import type { VrrpSource, VrrpState } from "./routes.ts";

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
 * A source that makes keepalived dump its state at each call. Calls must not overlap. Removes the previous dump first, so
 * that the state is not older than the call.
 */
export function createKeepalivedVrrp(options: KeepalivedOptions, send: SendSignal): VrrpSource {
  return async () => {
    const requested = await requestDump(options, send);
    if (!requested.ok) return requested;
    const read = await readDump(options);
    return read.ok ? { ok: true, interfaces: toInterfaces(read.instances, options.instances) } : read;
  };
}

type Unknown = VrrpState & { readonly ok: false };

function unknown(reason: string): Unknown {
  return { ok: false, reason };
}

async function requestDump(
  { pidFile, dumpFile, signal }: KeepalivedOptions,
  send: SendSignal,
): Promise<{ readonly ok: true } | Unknown> {
  try {
    // Not `rm`: in a sticky directory it reports a wrong reason for a file that it may not remove.
    await unlink(dumpFile);
  } catch (error) {
    const code = codeOf(error);
    if (code !== "ENOENT") return unknown(`${dumpFile}: the previous dump cannot be removed (${code})`);
  }
  // Last, so that nothing happens between this check and the signal.
  const found = await findKeepalived(pidFile, signal);
  if (!found.ok) return found;
  try {
    send(found.pid, signal);
    return { ok: true };
  } catch (error) {
    return unknown(`keepalived (process ${found.pid}) cannot be signaled (${codeOf(error)})`);
  }
}

/** Reads repeatedly, as keepalived does not write the file atomically. */
async function readDump({ dumpFile, timeoutMs }: KeepalivedOptions): Promise<Dump> {
  const untilMs = performance.now() + timeoutMs;
  for (;;) {
    const read = await readTextFile(dumpFile, LIMIT_BYTES);
    const dump = read.ok ? parseDump(read.text) : undefined;
    if (dump !== undefined) return dump.ok ? dump : unknown(`${dumpFile}: ${dump.reason}`);
    if (performance.now() >= untilMs) {
      const why = read.ok ? "it is incomplete" : read.message;
      return unknown(`keepalived did not dump its state within ${timeoutMs / 1_000} s: ${dumpFile}: ${why}`);
    }
    await delay(READ_EVERY_MS);
  }
}

function codeOf(error: unknown): string {
  return errorCode(error) ?? "unknown error";
}
