import { unlink } from "node:fs/promises";
import { isIP } from "node:net";
import { basename } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { PRIORITY, VHID } from "../exporter/api/vrrp.ts";
import type { LocalVrrpInterface } from "./encode.ts";
import { readTextFile } from "../exporter/config/read-file.ts";
import { netmaskOf } from "../support/address.ts";
import { coalesce } from "../support/coalesce.ts";
import { errorCode } from "../support/errors.ts";
import type { Logger } from "../support/log.ts";
import { DEFAULT_INSTANCE, type VrrpConfig } from "./config.ts";
import type { VrrpSource, VrrpState } from "./server.ts";

export type KeepalivedOptions = Omit<Extract<VrrpConfig, { source: "keepalived" }>, "source">;

type Instances = KeepalivedOptions["instances"];

/** Sends a signal. Throws as `process.kill` does. */
export type SendSignal = (pid: number, signal: number) => void;

const READ_EVERY_MS = 3;
/** The words for keepalived's numbers. An instance that stops has other numbers. */
const STATES = ["INIT", "BACKUP", "MASTER", "FAULT"] as const;

/**
 * Makes keepalived dump its state. Simultaneous requests share one dump, which never starts before the request.
 * Logs whether the state is known, and why not, when that changes.
 */
export function createKeepalivedSource(
  options: KeepalivedOptions,
  send: SendSignal,
  logger: Pick<Logger, "info" | "warn">,
): VrrpSource {
  let lastReason: string | undefined;
  return coalesce(async () => {
    const state = await dumpState(options, send);
    const reason = state.ok ? undefined : state.reason;
    if (reason !== lastReason) {
      if (reason === undefined) logger.info("vrrp state is known");
      else logger.warn({ reason }, "vrrp state is not known");
    }
    lastReason = reason;
    return state;
  });
}

async function dumpState(options: KeepalivedOptions, send: SendSignal): Promise<VrrpState> {
  const { pidFile, dumpFile, signal, timeoutMs, instances } = options;
  // The dump is removed first, so that the state is not older than the request. `rm` reports a wrong reason in a sticky directory.
  const code = await unlink(dumpFile).then(() => "removed", errorCode);
  if (code !== "removed" && code !== "ENOENT")
    return unknown(`${dumpFile}: the previous dump cannot be removed (${code})`);
  // This check comes last, so that nothing happens between it and the signal.
  const found = await findKeepalived(pidFile, signal);
  if (!found.ok) return found;
  const { pid } = found;
  try {
    send(pid, signal);
  } catch (error) {
    return unknown(`keepalived (process ${pid}) cannot be signaled (${errorCode(error)})`);
  }
  const untilMs = performance.now() + timeoutMs;
  // keepalived does not write the file atomically.
  for (;;) {
    const read = await readTextFile(dumpFile);
    const state = read.ok ? parseDump(read.text, instances) : undefined;
    if (state !== undefined) return state.ok ? state : unknown(`${dumpFile}: ${state.reason}`);
    if (performance.now() >= untilMs) {
      const why = `${dumpFile}: ${read.ok ? "it is incomplete" : read.message}`;
      return unknown(`keepalived did not dump its state within ${timeoutMs / 1_000} s: ${why}`);
    }
    await delay(READ_EVERY_MS);
  }
}

function unknown(reason: string) {
  return { ok: false, reason } as const;
}

/**
 * Returns the id of the process in a pid file, if it is keepalived and handles this signal. The signal would kill any other process,
 * such as a program that reuses the pid.
 */
export async function findKeepalived(pidFile: string, signal: number) {
  const read = await readTextFile(pidFile);
  if (!read.ok) return notRunning(`${pidFile}: ${read.message}`);
  const digits = /^\s*([1-9]\d{0,9})\s*$/.exec(read.text)?.[1];
  if (digits === undefined) return notRunning(`${pidFile}: it holds no process id`);
  const named = `process ${digits}, named in ${pidFile},`;
  const [commandLine, status] = await Promise.all([
    readTextFile(`/proc/${digits}/cmdline`),
    readTextFile(`/proc/${digits}/status`),
  ]);
  // A zombie has an empty command line.
  if (!commandLine.ok || !status.ok || commandLine.text === "") return notRunning(`${named} does not exist`);
  // keepalived's configuration can change the name of its process, so the command counts.
  const [command = ""] = commandLine.text.split("\0", 1);
  if (!basename(command).startsWith("keepalived")) return notRunning(`${named} is another program`);
  if (handles(signal, status.text)) return { ok: true, pid: Number(digits) } as const;
  const why = "it is stopping, or has another number for it";
  return unknown(`keepalived (process ${digits}) does not handle signal ${signal}: ${why}`);
}

function notRunning(why: string) {
  return unknown(`keepalived is not running: ${why}`);
}

/** keepalived blocks signals that it reads from a descriptor; older versions catch them. @see proc_pid_status(5) */
function handles(signal: number, status: string): boolean {
  const sets = Array.from(status.matchAll(/^Sig(?:Blk|Cgt):\s*([0-9a-f]+)$/gm));
  return sets.some(([, mask]) => ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n);
}

/** Reads `198.51.100.100/24 dev eth0 scope global set`; without a prefix, the netmask has all bits set. */
const address = z.string().transform((text, context) => {
  const [, host = "", digits] = /^([^ /]+)(?:\/(\d{1,3}))?(?: |$)/.exec(text) ?? [];
  const bits = isIP(host) === 6 ? 128 : 32;
  const prefix = digits === undefined ? bits : Number(digits);
  if (isIP(host) !== 0 && prefix <= bits) return { vip: host, netmask: netmaskOf(prefix, bits) };
  context.issues.push({ code: "custom", input: text });
  return z.NEVER;
});

const instance = z.object({
  data: z.object({
    iname: z.string().min(1),
    // The key is missing if the interface does not exist.
    ifp_ifname: z.string().default(""),
    vrid: z.int().min(VHID.min).max(VHID.max),
    effective_priority: z.int().min(PRIORITY.min).max(PRIORITY.max),
    state: z.int(),
    // The addresses have the order of keepalived's configuration; the key is missing if there are none.
    vips: z.array(address).default([]),
    // Adverts do not name the addresses of `virtual_ipaddress_excluded`.
    evips: z.array(address).default([]),
  }),
});

/** The list is a member of an object with `json_version 2`. */
const dump = z.preprocess(
  (value) => (typeof value === "object" && value !== null && "vrrp" in value ? value.vrrp : value),
  z.array(instance),
);

/** Returns the instances of a dump, or why its format is unknown; `undefined` if the dump is incomplete. Never throws. */
export function parseDump(text: string, instances: Instances): VrrpState | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parsed = dump.safeParse(json);
  if (parsed.success)
    return { ok: true, interfaces: parsed.data.flatMap((each) => toInterface(each, instances)) };
  const path = z.core.toDotPath(parsed.error.issues[0]?.path ?? []);
  return { ok: false, reason: `unknown dump format at $${path}` };
}

/**
 * FAULT and INIT go beyond the API: as BACKUP, a node that cannot take over would look ready. Drops an instance without virtual
 * addresses, as the API requires one. @see management API 2.1
 */
function toInterface(
  { data }: z.infer<typeof instance>,
  instances: Instances,
): readonly LocalVrrpInterface[] {
  const [first, ...others] = [...data.vips, ...data.evips];
  if (first === undefined) return [];
  const { iname: name, ifp_ifname: device, vrid: vhid, effective_priority: priority } = data;
  const { carppeer: peer, type } = instances.get(name) ?? DEFAULT_INSTANCE;
  const state = STATES[data.state] ?? "INIT";
  const alias = others.map(({ vip }) => vip);
  return [{ name, device, vhid, priority, state, alias, peer, type, ...first }];
}
