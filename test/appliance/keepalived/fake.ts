import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { onTestFinished } from "vitest";

import { eventually } from "../../support/eventually.ts";
import { temporaryFolder } from "./support.ts";

export const SIGJSON = 36;

/** A whole dump of one instance. */
export function dumpOf(state: number): string {
  const vips = ["192.0.2.100/24 dev eth0 scope global"];
  const data = { iname: "VI_1", ifp_ifname: "eth0", vrid: 51, effective_priority: 150, state, vips };
  return JSON.stringify([{ data }]);
}

const [BACKUP, MASTER] = [dumpOf(1), dumpOf(2)];
const DUMPS = { backup: BACKUP, master: MASTER, "half.1": MASTER.slice(0, 80), "half.2": MASTER.slice(80) };

/** A process that goes by a command's name; killed when the test is over. */
export function startNamed(argv0: string, command: string, ...args: readonly string[]): ChildProcess {
  const child = spawn(command, args, { argv0, stdio: ["pipe", "ignore", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/**
 * Stands in for keepalived where it is to behave as the real one cannot be made to: it answers the signal with
 * `onSignal`, a shell's commands, in a folder that holds its pid file and whole dumps: `master`, `backup`, and the two
 * halves of one, `half.1` and `half.2`.
 */
export async function startFake(onSignal: string): Promise<{ child: ChildProcess; folder: string }> {
  const folder = await temporaryFolder();
  await Promise.all(Object.entries(DUMPS).map(([name, text]) => writeFile(join(folder, name), text)));
  // It ends with its input, whatever happens to the test.
  const script = `cd '${folder}'; trap '${onSignal}' ${SIGJSON}; while read -rt 0.01 || [ $? -gt 128 ]; do :; done`;
  const child = startNamed("keepalived", "bash", "-c", script);
  await writeFile(join(folder, "vrrp.pid"), `${child.pid}\n`);
  await eventually(() => {
    if (!/^SigCgt:\s*[0-9a-f]*[89a-f][0-9a-f]{8}$/m.test(statusOf(child))) throw new Error("no trap yet");
  });
  return { child, folder };
}

/** What the system tells of a process. @see proc_pid_status(5) */
function statusOf({ pid }: ChildProcess): string {
  return readFileSync(`/proc/${pid}/status`, "utf8");
}

/** Whether a signal has halted it. */
export function isStopped(child: ChildProcess): boolean {
  return /^State:\s*T/m.test(statusOf(child));
}
