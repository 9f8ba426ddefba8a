import { isIP } from "node:net";

import { z } from "zod";

import { PRIORITY, VHID, type LocalVrrpInterface } from "../../api/vrrp.ts";
import type { VrrpState } from "../routes.ts";

/** Fields of the API that keepalived's dump does not contain. */
export interface InstanceSettings {
  /** `carppeer` */
  readonly peer: string;
  readonly type: string;
}

export const DEFAULT_SETTINGS: InstanceSettings = { peer: "224.0.0.18", type: "2" };

/** 0 is INIT, 1 BACKUP, 3 FAULT. */
const KEEPALIVED_MASTER = 2;

/** `198.51.100.100/24 dev eth0 scope global set`; without a prefix, the netmask has all bits set. */
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
    // Missing if the interface does not exist.
    ifp_ifname: z.string().default(""),
    vrid: z.int().min(VHID.min).max(VHID.max),
    effective_priority: z.int().min(PRIORITY.min).max(PRIORITY.max),
    state: z.int(),
    // In the order of keepalived's configuration; missing if there are none.
    vips: z.array(address).default([]),
  }),
});

/** With `json_version 2` the list is a member of an object. */
const dump = z.preprocess(
  (value) => (typeof value === "object" && value !== null && "vrrp" in value ? value.vrrp : value),
  z.array(instance),
);

/**
 * The instances of a dump in the API's form, or why its format is unknown; `undefined` if the dump is incomplete. Never throws.
 */
export function parseDump(
  text: string,
  settings: ReadonlyMap<string, InstanceSettings>,
): VrrpState | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parsed = dump.safeParse(json);
  if (parsed.success)
    return { ok: true, interfaces: parsed.data.flatMap((each) => toInterface(each, settings)) };
  const path = z.core.toDotPath(parsed.error.issues[0]?.path ?? []);
  return { ok: false, reason: `unknown dump format at $${path}` };
}

/**
 * The API has no FAULT and INIT: neither state holds the addresses, so both become BACKUP. Drops an instance without virtual
 * addresses, as the API requires one.
 *
 * @see management API 2.1
 */
function toInterface(
  { data }: z.infer<typeof instance>,
  settings: ReadonlyMap<string, InstanceSettings>,
): readonly LocalVrrpInterface[] {
  const [first, ...others] = data.vips;
  if (first === undefined) return [];
  const { iname: name, ifp_ifname: device, vrid: vhid, effective_priority: priority } = data;
  const state = data.state === KEEPALIVED_MASTER ? "MASTER" : "BACKUP";
  const alias = others.map(({ vip }) => vip);
  return [
    { name, device, vhid, priority, state, alias, ...first, ...(settings.get(name) ?? DEFAULT_SETTINGS) },
  ];
}

/** `255.255.255.0`, `ffff:ffff:ffff:ffff::`; IPv6 as in RFC 5952. `bits`: of an address, 32 or 128. */
function netmaskOf(prefix: number, bits: number): string {
  if (bits === 32) return partsOf(prefix, 4, 8).join(".");
  const groups = partsOf(prefix, 8, 16).map((group) => group.toString(16));
  return groups.join(":").replace(/(^|:)0(:0)+$/, "::");
}

/** `count` parts of `bits` bits each, with the first `prefix` bits set. */
function partsOf(prefix: number, count: number, bits: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => {
    const set = Math.min(bits, Math.max(0, prefix - index * bits));
    return 2 ** bits - 2 ** (bits - set);
  });
}
