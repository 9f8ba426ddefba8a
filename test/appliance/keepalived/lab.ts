import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chown, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { VrrpSource } from "../../../src/appliance/server.ts";
import { eventually } from "../../support/eventually.ts";
import { toolPath } from "../../support/tool.ts";
import { optionsIn, sourceOf, temporaryFolder } from "./support.ts";

/** The user and the group. */
export const NOBODY = 65_534;
const PID_FILES = ["keepalived.pid", "vrrp.pid"] as const;

/** A keepalived and the folder of its pid file and dumps. */
export interface Keepalived {
  readonly folder: string;
  start(): Promise<void>;
  /** Stops it with SIGTERM, as its service does. */
  stop(): Promise<void>;
  /** Kills it: the addresses and the pid files remain. */
  crash(): Promise<void>;
  /** Runs `ip` in its network; throws its error output. */
  ip(...args: readonly string[]): void;
  /** Its log since the latest start. */
  log(): string;
}

interface KeepalivedOptions {
  /** Without privileges except those for the network. */
  readonly asNobody?: boolean;
  /** With its default files, below the folder. */
  readonly withDefaults?: boolean;
}

/** Starts a keepalived with this configuration in a network of its own; stopped at the end of the test. */
export async function startKeepalived(
  config: string,
  { asNobody = false, withDefaults = false }: KeepalivedOptions = {},
): Promise<Keepalived> {
  const folder = await temporaryFolder();
  const own = [folder, join(folder, "run"), join(folder, "tmp")];
  await Promise.all(own.map((each) => mkdir(each, { recursive: true })));
  if (asNobody) await chown(folder, NOBODY, NOBODY);
  await writeFile(join(folder, "run/keepalived.conf"), `global_defs { vrrp_version 3 }\n${config}`);
  const command = [
    "unshare",
    "--net",
    "sh",
    "-ec",
    NETWORK,
    "sh",
    ...limits(asNobody),
    ...(withDefaults ? behind(folder) : inFolder(folder)),
  ];
  let running: { readonly child: ChildProcess; readonly gone: Promise<unknown>; log: string } | undefined;

  const start = async (): Promise<void> => {
    // With the files of a crash, it would exit at once.
    await Promise.all(PID_FILES.map((name) => rm(join(folder, name), { force: true })));
    const child = spawn(command[0] ?? "", command.slice(1));
    const started = { child, gone: once(child, "exit"), log: "" };
    child.stderr.on("data", (chunk) => (started.log += chunk));
    running = started;
    await eventually(() => {
      if (!/Entering BACKUP STATE/.test(started.log)) throw new Error(`not started: ${started.log}`);
    });
  };
  const stop = async (): Promise<void> => {
    running?.child.kill("SIGTERM");
    await running?.gone;
  };
  const crash = async (): Promise<void> => {
    const [main = 0, vrrp = 0] = await Promise.all(
      PID_FILES.map(async (name) => Number(await readFile(join(folder, name), "utf8"))),
    );
    // The main process must not replace the other one, which would send a last advert if it ended second.
    process.kill(main, "SIGSTOP");
    process.kill(vrrp, "SIGKILL");
    process.kill(main, "SIGKILL");
    await running?.gone;
  };
  const ip = (...args: readonly string[]): void => {
    execFileSync(toolPath("nsenter"), [
      `--net=/proc/${running?.child.pid}/ns/net`,
      "--",
      toolPath("ip"),
      ...args,
    ]);
  };
  onTestFinished(stop);
  await start();
  return { folder, start, stop, crash, ip, log: () => running?.log ?? "" };
}

/** An interface `eth0` with an address, and without a peer. */
const NETWORK = `ip link set lo up
ip link add eth0 type veth peer name other
ip link set eth0 up
ip link set other up
ip addr add 198.51.100.11/24 dev eth0
exec "$@"`;

/** The command of a keepalived with its files in a folder. */
function inFolder(folder: string): readonly string[] {
  const [pidFile = "", vrrpPidFile = ""] = PID_FILES.map((name) => join(folder, name));
  // keepalived 2.3 locks that of a process which does not run, too.
  const unused = ["-b", join(folder, "bfd.pid")];
  const files = ["-f", join(folder, "run/keepalived.conf"), "-p", pidFile, "-r", vrrpPidFile, ...unused];
  return ["env", `TMPDIR=${folder}`, ...keepalived(), ...files];
}

/** The command of a keepalived with its default files, and the folder's `run` and `tmp` mounted as /run and /tmp. */
function behind(folder: string): readonly string[] {
  const script = 'mount --bind "$0/run" /run && mount --bind "$0/tmp" /tmp && exec "$@"';
  const shell = ["unshare", "--mount", "sh", "-c", script, folder];
  return [...shell, "env", "--unset=TMPDIR", ...keepalived(), "-f", "/run/keepalived.conf"];
}

function keepalived(): readonly string[] {
  return [toolPath("keepalived"), "--dont-fork", "--log-console", "--log-detail", "--no-syslog", "--vrrp"];
}

/** The process ends with this one. */
function limits(asNobody: boolean): readonly string[] {
  const caps = ["--inh-caps=+net_admin,+net_raw", "--ambient-caps=+net_admin,+net_raw"];
  const identity = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", ...caps];
  return ["setpriv", "--pdeathsig=TERM", ...(asNobody ? identity : []), "--"];
}

/** An instance with the shortest interval of keepalived, an address and these lines. */
export function instanceOf(lines: string): string {
  const address = "virtual_ipaddress { 198.51.100.100/24 }";
  return `vrrp_instance VI_1 {\n interface eth0\n virtual_router_id 51\n advert_int 0.1\n ${address}\n ${lines}\n}\n`;
}

/** A keepalived without a peer. */
export async function startLone(options?: KeepalivedOptions): Promise<Keepalived> {
  return startKeepalived(instanceOf("priority 150"), options);
}

/** The program's source for a keepalived. */
export function sourceIn({ folder }: Keepalived): VrrpSource {
  return sourceOf(optionsIn(folder, { timeoutMs: 5_000 }));
}

/** `name state priority` of each interface, or the reason for an unknown state. */
export async function describeState(source: VrrpSource): Promise<readonly string[] | string> {
  const state = await source();
  return state.ok
    ? state.interfaces.map((each) => `${each.name} ${each.state} ${each.priority}`)
    : state.reason;
}
