import { spawn, spawnSync } from "node:child_process";
import { readlinkSync } from "node:fs";

import { onTestFinished } from "vitest";

import { eventually } from "../../support/eventually.ts";

/**
 * A network namespace with a loopback interface. It has no name: a process that reads what this one writes holds it, so
 * that it is gone with this process at the latest, however that ends.
 */
export interface Network {
  readonly pid: number;
  /** Runs `ip` inside; throws what it complains of. */
  ip(...args: readonly string[]): void;
}

/** A network that is gone when the test is over. */
export async function createNetwork(): Promise<Network> {
  const holder = spawn("unshare", ["--net", "cat"], { stdio: ["pipe", "ignore", "inherit"] });
  onTestFinished(() => void holder.kill());
  const { pid } = holder;
  if (pid === undefined) throw new Error("no process to hold a network");
  await eventually(() => {
    if (readlinkSync(`/proc/${pid}/ns/net`) === readlinkSync("/proc/self/ns/net")) throw new Error("not yet");
  });
  const ip = (...args: readonly string[]): void => run([...inside(pid), "ip", ...args]);
  ip("link", "set", "lo", "up");
  return { pid, ip };
}

/** A cable between the interface `eth0` of one network and an interface of another, or of the same; both are up. */
export function connect(one: Network, other: Network, peer = "eth0"): void {
  const [here, there] = [`netns ${one.pid}`, `netns ${other.pid}`];
  run(`ip link add eth0 ${here} type veth peer name ${peer} ${there}`.split(" "));
  one.ip("link", "set", "eth0", "up");
  other.ip("link", "set", peer, "up");
}

/** A network with a cable that ends nowhere, and an address on it. */
export async function createLoneNetwork(): Promise<Network> {
  const network = await createNetwork();
  connect(network, network, "other");
  network.ip("addr", "add", "198.51.100.11/24", "dev", "eth0");
  return network;
}

/** What runs a command inside the network that a process is in. */
export function inside(pid: number): readonly string[] {
  return ["nsenter", `--net=/proc/${pid}/ns/net`, "--"];
}

function run([command = "", ...args]: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
}
