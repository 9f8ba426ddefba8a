import { basename } from "node:path";

import { readTextFile } from "../../config/read-file.ts";

const LIMIT_BYTES = 64 * 1024;

export type FoundProcess =
  | { readonly ok: true; readonly pid: number }
  /** `reason`: for people. */
  | { readonly ok: false; readonly reason: string };

/**
 * The process that a pid file names, if it is keepalived and waits for this signal; whatever else has come by that pid,
 * the signal would end. Nothing is remembered from one call to the next.
 */
export async function findKeepalived(pidFile: string, signal: number): Promise<FoundProcess> {
  const read = await readTextFile(pidFile, LIMIT_BYTES);
  if (!read.ok) return notRunning(`${pidFile}: ${read.message}`);
  const digits = /^\s*([1-9]\d{0,9})\s*$/.exec(read.text)?.[1];
  if (digits === undefined) return notRunning(`${pidFile} holds no process id`);
  const named = `process ${digits}, which ${pidFile} names,`;
  const [commandLine, status] = await Promise.all([
    readTextFile(`/proc/${digits}/cmdline`, LIMIT_BYTES),
    readTextFile(`/proc/${digits}/status`, LIMIT_BYTES),
  ]);
  if (!commandLine.ok || !status.ok) return notRunning(`${named} is not there`);
  if (!isKeepalived(commandLine.text)) return notRunning(`${named} is another program`);
  if (!waitsFor(signal, status.text)) {
    return { ok: false, reason: `keepalived (process ${digits}) does not wait for signal ${signal}` };
  }
  return { ok: true, pid: Number(digits) };
}

function notRunning(why: string): FoundProcess {
  return { ok: false, reason: `keepalived is not running: ${why}` };
}

/** By the command, as the process's own name is for keepalived's configuration to choose. */
function isKeepalived(commandLine: string): boolean {
  const [command = ""] = commandLine.split("\0", 1);
  return basename(command).startsWith("keepalived");
}

/** Blocked signals are those that keepalived reads from a descriptor; older ones catch them. */
function waitsFor(signal: number, status: string): boolean {
  return ["SigBlk", "SigCgt"].some((field) => {
    const mask = new RegExp(`^${field}:\\s*([0-9a-f]+)$`, "m").exec(status)?.[1];
    return mask !== undefined && ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
  });
}
