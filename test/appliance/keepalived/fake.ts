import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { temporaryFolder } from "./support.ts";
import { endChild } from "../../support/child.ts";

export const SIGJSON = 36;

/** A whole dump of one instance. */
export function dumpOf(state: number): string {
  const vips = ["192.0.2.100/24 dev eth0 scope global"];
  const data = { iname: "VI_1", ifp_ifname: "eth0", vrid: 51, effective_priority: 150, state, vips };
  return JSON.stringify([{ data }]);
}

const [BACKUP, MASTER] = [dumpOf(1), dumpOf(2)];
const DUMPS = { backup: BACKUP, master: MASTER, "half.1": MASTER.slice(0, 80), "half.2": MASTER.slice(80) };

/** Starts a process with another command name; killed at the end of the test. */
export function startNamed(argv0: string, command: string, ...args: readonly string[]): ChildProcess {
  const child = spawn(command, args, { argv0, stdio: ["pipe", "ignore", "inherit"] });
  onTestFinished(() => endChild(child));
  return child;
}

/**
 * Starts a replacement for keepalived that runs shell commands at the signal, in a folder with its pid file and dumps:
 * `master`, `backup`, and the halves `half.1` and `half.2`.
 */
export async function startFake(onSignal: string): Promise<{ child: ChildProcess; folder: string }> {
  const folder = await temporaryFolder();
  await Promise.all(Object.entries(DUMPS).map(([name, text]) => writeFile(join(folder, name), text)));
  // It ends with its input.
  const script = `cd '${folder}'; trap '${onSignal}' ${SIGJSON}; while read -rt 0.01 || [ $? -gt 128 ]; do :; done`;
  const child = startNamed("keepalived", "bash", "-c", script);
  await writeFile(join(folder, "vrrp.pid"), `${child.pid}\n`);
  await eventually(() => {
    if (!/^SigCgt:\s*[0-9a-f]*[89a-f][0-9a-f]{8}$/m.test(readFileSync(`/proc/${child.pid}/status`, "utf8")))
      throw new Error("no trap yet");
  });
  return { child, folder };
}
