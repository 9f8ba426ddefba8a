import { unlink } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

import { errorCode } from "../support/errors.ts";
import { readTextFile } from "../config/read-file.ts";
import { parseDump, type Dump } from "./keepalived/dump.ts";
import { toInterfaces, type InstanceSettings } from "./keepalived/mapping.ts";
import { findKeepalived } from "./keepalived/process.ts";
import type { VrrpSource, VrrpState } from "./routes.ts";

/** Where a keepalived is found, and what its dump does not tell. */
export interface KeepalivedOptions {
  /** Of its VRRP process, or of its main process, which hands the signal on. */
  readonly pidFile: string;
  /** What it writes when it gets the signal. */
  readonly dumpFile: string;
  /** The signal's number, as `keepalived --signum=JSON` prints it. */
  readonly signal: number;
  /** From the signal to the dump. */
  readonly timeoutMs: number;
  /** By the instance's name. */
  readonly instances: ReadonlyMap<string, InstanceSettings>;
}

/** Sends a signal. Throws as `process.kill` does. */
export type SendSignal = (pid: number, signal: number) => void;

/** A dump of 4096 instances is no larger. */
const LIMIT_BYTES = 16 * 1024 * 1024;
const READ_EVERY_MS = 3;

/**
 * A source that has keepalived write its state down at each call, and reads it. Every call is one dump, and two must not
 * overlap. What was there before is removed first, so that nothing older than the call can be told.
 */
export function createKeepalivedVrrp(options: KeepalivedOptions, send: SendSignal): VrrpSource {
  return async () => {
    const asked = await askForDump(options, send);
    if (!asked.ok) return asked;
    const read = await readDump(options);
    return read.ok ? { ok: true, interfaces: toInterfaces(read.instances, options.instances) } : read;
  };
}

type Unknown = VrrpState & { readonly ok: false };

function unknown(reason: string): Unknown {
  return { ok: false, reason };
}

async function askForDump(
  { pidFile, dumpFile, signal }: KeepalivedOptions,
  send: SendSignal,
): Promise<{ readonly ok: true } | Unknown> {
  try {
    // Not `rm`, which in a sticky folder takes a file that it may not remove for a folder, and tells another reason.
    await unlink(dumpFile);
  } catch (error) {
    const code = codeOf(error);
    if (code !== "ENOENT") return unknown(`${dumpFile}: the last dump cannot be removed (${code})`);
  }
  // Last, so that nothing comes between the look at the process and the signal.
  const found = await findKeepalived(pidFile, signal);
  if (!found.ok) return found;
  try {
    // One that keepalived has yet to take asks for what comes after the removal; more would but pile up.
    if (!found.hasPending) send(found.pid, signal);
    return { ok: true };
  } catch (error) {
    return unknown(`keepalived (process ${found.pid}) cannot be signalled (${codeOf(error)})`);
  }
}

/** Reads again and again, as keepalived does not write it in one go. */
async function readDump({ dumpFile, timeoutMs }: KeepalivedOptions): Promise<Dump> {
  const untilMs = performance.now() + timeoutMs;
  for (;;) {
    const read = await readTextFile(dumpFile, LIMIT_BYTES);
    const dump = read.ok ? parseDump(read.text) : undefined;
    if (dump !== undefined) return dump.ok ? dump : unknown(`${dumpFile}: ${dump.reason}`);
    if (performance.now() >= untilMs) {
      const why = read.ok ? "it is not complete" : read.message;
      return unknown(
        `keepalived did not write down its state within ${timeoutMs / 1_000} s: ${dumpFile}: ${why}`,
      );
    }
    await delay(READ_EVERY_MS);
  }
}

function codeOf(error: unknown): string {
  return errorCode(error) ?? "unknown error";
}
