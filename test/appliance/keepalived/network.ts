import { spawn, spawnSync } from "node:child_process";
import { readlinkSync } from "node:fs";

import { onTestFinished } from "vitest";

import { eventually } from "../../support/eventually.ts";
import { toolPath } from "../../support/tool.ts";

/**
 * A network namespace with a loopback interface. It has no name: a process that reads what this one writes holds it, so
 * that it is gone with this process at the latest, however that ends.
 */
export interface Network {
  readonly pid: number;
  /** Runs `ip` inside; throws what it complains of. */
  ip(...args: readonly string[]): void;
}

/** A network with an interface `eth0` and an address on it. It is removed when the test is over. */
export async function createLoneNetwork(): Promise<Network> {
  const holder = spawn(toolPath("unshare"), ["--net", "cat"], { stdio: ["pipe", "ignore", "inherit"] });
  onTestFinished(() => void holder.kill());
  const { pid } = holder;
  if (pid === undefined) throw new Error("no process to hold a network");
  await eventually(() => {
    if (readlinkSync(`/proc/${pid}/ns/net`) === readlinkSync("/proc/self/ns/net")) throw new Error("not yet");
  });
  const ip = (...args: readonly string[]): void => run([...inside(pid), toolPath("ip"), ...args]);
  for (const command of [
    "link set lo up",
    "link add eth0 type veth peer name other",
    "link set eth0 up",
    "link set other up",
    "addr add 198.51.100.11/24 dev eth0",
  ])
    ip(...command.split(" "));
  return { pid, ip };
}

/** What runs a command inside the network that a process is in. */
export function inside(pid: number): readonly string[] {
  return ["nsenter", `--net=/proc/${pid}/ns/net`, "--"];
}

function run([command = "", ...args]: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
}
