import { spawn, spawnSync } from "node:child_process";
import { readlinkSync } from "node:fs";
import { onTestFinished } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { toolPath } from "../../support/tool.ts";
import { endChild } from "../../support/child.ts";

/**
 * A network namespace with a loopback interface. A child process holds it, which ends with its input, so that the
 * namespace never outlives this process.
 */
export interface Network {
  readonly pid: number;
  /** Runs `ip` inside; throws its error output. */
  ip(...args: readonly string[]): void;
}

/** A network with an interface `eth0` and an address; removed at the end of the test. */
export async function createLoneNetwork(): Promise<Network> {
  const holder = spawn(toolPath("unshare"), ["--net", "cat"], { stdio: ["pipe", "ignore", "inherit"] });
  onTestFinished(() => endChild(holder));
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

/** The command prefix for the network of a process. */
export function inside(pid: number): readonly string[] {
  return ["nsenter", `--net=/proc/${pid}/ns/net`, "--"];
}

function run([command = "", ...args]: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
}
