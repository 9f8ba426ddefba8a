import { basename } from "node:path";

import { readTextFile } from "../../config/read-file.ts";

/** Why the state of VRRP is not known. */
export class UnknownState extends Error {}

/**
 * The id of the process in a pid file, if it is keepalived and handles this signal. The signal would kill any other process,
 * such as a program that reuses the pid.
 *
 * @throws UnknownState
 */
export async function findKeepalived(pidFile: string, signal: number): Promise<number> {
  const read = await readTextFile(pidFile);
  if (!read.ok) throw notRunning(`${pidFile}: ${read.message}`);
  const digits = /^\s*([1-9]\d{0,9})\s*$/.exec(read.text)?.[1];
  if (digits === undefined) throw notRunning(`${pidFile}: it holds no process id`);
  const named = `process ${digits}, named in ${pidFile},`;
  const [commandLine, status] = await Promise.all([
    readTextFile(`/proc/${digits}/cmdline`),
    readTextFile(`/proc/${digits}/status`),
  ]);
  // A zombie has an empty command line.
  if (!commandLine.ok || !status.ok || commandLine.text === "") throw notRunning(`${named} does not exist`);
  if (!isKeepalived(commandLine.text)) throw notRunning(`${named} is another program`);
  if (waitsFor(signal, status.text)) return Number(digits);
  const why = "it is stopping, or has another number for it";
  throw new UnknownState(`keepalived (process ${digits}) does not handle signal ${signal}: ${why}`);
}

function notRunning(why: string): UnknownState {
  return new UnknownState(`keepalived is not running: ${why}`);
}

/** Checks the command, as keepalived's configuration can change the process name. */
function isKeepalived(commandLine: string): boolean {
  const [command = ""] = commandLine.split("\0", 1);
  return basename(command).startsWith("keepalived");
}

/** keepalived blocks signals that it reads from a descriptor; older versions catch them. */
function waitsFor(signal: number, status: string): boolean {
  return isIn("SigBlk", signal, status) || isIn("SigCgt", signal, status);
}

/** Whether a signal is in one of a process's signal sets. @see proc_pid_status(5) */
function isIn(set: "SigBlk" | "SigCgt", signal: number, status: string): boolean {
  const mask = new RegExp(`^${set}:\\s*([0-9a-f]+)$`, "m").exec(status)?.[1] ?? "0";
  return ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
}
