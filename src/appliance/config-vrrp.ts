import { dirname, join, resolve } from "node:path";

import { z } from "zod";

import { VRRP_LIST } from "../api/vrrp.ts";
import type { LocalVrrpInterface } from "../api/vrrp-list.ts";
import { PRIORITY, VHID } from "../api/vrrp-member.ts";
import { listOf, mapOf } from "../config/yaml/collections.ts";
import { integer, ipAddress, netmask, text, timeout } from "./config-values.ts";
import { DEFAULT_SETTINGS } from "./keepalived/mapping.ts";
import type { KeepalivedOptions } from "./vrrp-keepalived.ts";

/** Debian's keepalived, unless told otherwise. */
const DEFAULT_PID_FILE = "/run/vrrp.pid";
const DEFAULT_DUMP_DIR = "/tmp";
const DUMP_NAME = "keepalived.json";
/** With glibc; real-time signals are the only ones that can ask for nothing but a dump. */
const SIGJSON = { min: 34, max: 64, default: 36 };
/** Answers come within a second, the shortest time that a poll may be given. */
const DEFAULT_TIMEOUT_MS = 500;

const type = integer(0).transform(String);

/** One VRRP interface in the API's own words; advskew follows from priority. @see management API 2.1 */
const vrrpInterface = z.strictObject({
  if: text,
  vip: ipAddress,
  netmask,
  vhid: integer(VHID.min, VHID.max),
  priority: integer(PRIORITY.min, PRIORITY.max),
  state_current: z.enum(["MASTER", "BACKUP"]),
  type,
  carppeer: ipAddress,
  alias: listOf(ipAddress).default([]),
});

const interfaces = mapOf(z.string().min(1), vrrpInterface, { max: VRRP_LIST.limits.json.entries });

const instance = z.strictObject({
  carppeer: ipAddress.default(DEFAULT_SETTINGS.peer),
  type: type.default(DEFAULT_SETTINGS.type),
});

/** A key that has no meaning beside this source. */
const onlyWith = (source: string) => z.undefined({ error: `only with source: ${source}` }).optional();
const onlyStatic = onlyWith("static");
const onlyKeepalived = onlyWith("keepalived");

const staticSource = z.strictObject({
  source: z.literal("static"),
  interfaces,
  pid_file: onlyKeepalived,
  dump_dir: onlyKeepalived,
  json_signal: onlyKeepalived,
  timeout: onlyKeepalived,
  instances: onlyKeepalived,
});

const keepalivedSource = z.strictObject({
  source: z.literal("keepalived"),
  interfaces: onlyStatic,
  pid_file: text.default(DEFAULT_PID_FILE),
  dump_dir: text.default(DEFAULT_DUMP_DIR),
  json_signal: integer(SIGJSON.min, SIGJSON.max).default(SIGJSON.default),
  timeout: timeout.default(DEFAULT_TIMEOUT_MS),
  instances: mapOf(z.string().min(1), instance).default({}),
});

/** Where the state of VRRP comes from. */
export const vrrpSchema = z.discriminatedUnion("source", [staticSource, keepalivedSource], {
  error: ({ code }) => (code === "invalid_union" ? "expected one of static, keepalived" : undefined),
});

export type VrrpSettings = z.infer<typeof vrrpSchema>;

export type VrrpConfig =
  | { readonly source: "static"; readonly interfaces: readonly LocalVrrpInterface[] }
  | ({ readonly source: "keepalived" } & KeepalivedOptions);

/** `file`: the configuration's own, which relative paths are relative to. */
export function resolveVrrp(settings: VrrpSettings, file: string): VrrpConfig {
  if (settings.source === "static") {
    const given = Object.entries(settings.interfaces);
    return { source: "static", interfaces: given.map(([name, each]) => toInterface(name, each)) };
  }
  const folder = dirname(file);
  return {
    source: "keepalived",
    pidFile: resolve(folder, settings.pid_file),
    dumpFile: join(resolve(folder, settings.dump_dir), DUMP_NAME),
    signal: settings.json_signal,
    timeoutMs: settings.timeout,
    instances: new Map(
      Object.entries(settings.instances).map(([name, { carppeer: peer, ...rest }]) => [
        name,
        { peer, ...rest },
      ]),
    ),
  };
}

function toInterface(
  name: string,
  { if: device, state_current: state, carppeer: peer, ...rest }: z.infer<typeof vrrpInterface>,
): LocalVrrpInterface {
  return { name, device, state, peer, ...rest };
}
