import { basename } from "node:path";

import { readTextFile } from "../../config/read-file.ts";

const LIMIT_BYTES = 64 * 1024;

export type FoundProcess =
  | {
      readonly ok: true;
      readonly pid: number;
      /** Whether it has been sent the signal already and has not taken it yet. */
      readonly hasPending: boolean;
    }
  /** `reason`: for people. */
  | { readonly ok: false; readonly reason: string };

/**
 * The process that a pid file names, if it is keepalived and waits for this signal: it ends what does not, as another
 * program that has come by the pid. Nothing is remembered from one call to the next.
 */
export async function findKeepalived(pidFile: string, signal: number): Promise<FoundProcess> {
  const read = await readTextFile(pidFile, LIMIT_BYTES);
  if (!read.ok) return notRunning(`${pidFile}: ${read.message}`);
  const digits = /^\s*([1-9]\d{0,9})\s*$/.exec(read.text)?.[1];
  if (digits === undefined) return notRunning(`${pidFile}: it holds no process id`);
  const named = `process ${digits}, which ${pidFile} names,`;
  const [commandLine, status] = await Promise.all([
    readTextFile(`/proc/${digits}/cmdline`, LIMIT_BYTES),
    readTextFile(`/proc/${digits}/status`, LIMIT_BYTES),
  ]);
  // Of a process that has ended and that nobody has asked after yet, the command line is gone.
  if (!commandLine.ok || !status.ok || commandLine.text === "") return notRunning(`${named} is not there`);
  if (!isKeepalived(commandLine.text)) return notRunning(`${named} is another program`);
  if (!waitsFor(signal, status.text)) {
    const why = "it is stopping, or has another number for it";
    return { ok: false, reason: `keepalived (process ${digits}) does not wait for signal ${signal}: ${why}` };
  }
  return { ok: true, pid: Number(digits), hasPending: isIn("ShdPnd", signal, status.text) };
}

function notRunning(why: string): FoundProcess {
  return { ok: false, reason: `keepalived is not running: ${why}` };
}

/** By the command, as the process's own name is for keepalived's configuration to choose. */
function isKeepalived(commandLine: string): boolean {
  const [command = ""] = commandLine.split("\0", 1);
  return basename(command).startsWith("keepalived");
}

/** Blocked signals are those that keepalived reads from a descriptor; before it had one, it caught them. */
function waitsFor(signal: number, status: string): boolean {
  return isIn("SigBlk", signal, status) || isIn("SigCgt", signal, status);
}

/** Whether a signal is in one of a process's sets of them. @see proc_pid_status(5) */
function isIn(set: "SigBlk" | "SigCgt" | "ShdPnd", signal: number, status: string): boolean {
  const mask = new RegExp(`^${set}:\\s*([0-9a-f]+)$`, "m").exec(status)?.[1] ?? "0";
  return ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
}
