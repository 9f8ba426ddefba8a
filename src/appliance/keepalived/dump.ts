import { isIP } from "node:net";

import { z } from "zod";

import type { JsonLimits } from "../../api/json-scan.ts";
import { parseJson } from "../../api/json.ts";
import { PRIORITY, VHID } from "../../api/vrrp.ts";

/** A virtual address of an instance. */
export interface DumpedAddress {
  readonly address: string;
  /** Length of the network prefix in bits. */
  readonly prefix: number;
}

/** A VRRP instance in keepalived's JSON dump. */
export interface DumpedInstance {
  readonly name: string;
  readonly device: string;
  readonly vhid: number;
  readonly priority: number;
  /** keepalived's number: 0 INIT, 1 BACKUP, 2 MASTER, 3 FAULT. */
  readonly state: number;
  /** In the order of keepalived's configuration. */
  readonly addresses: readonly DumpedAddress[];
}

export type Dump =
  | { readonly ok: true; readonly instances: readonly DumpedInstance[] }
  | { readonly ok: false; readonly reason: string };

/** `198.51.100.100/24 dev eth0 scope global set`; without a prefix, the netmask has all bits set. */
const address = z.string().transform((text, context): DumpedAddress => {
  const [, host = "", digits] = /^([^ /]+)(?:\/(\d{1,3}))?(?: |$)/.exec(text) ?? [];
  const bits = isIP(host) === 6 ? 128 : 32;
  const prefix = digits === undefined ? bits : Number(digits);
  if (isIP(host) !== 0 && prefix <= bits) return { address: host, prefix };
  context.issues.push({ code: "custom", input: text });
  return z.NEVER;
});

const instance = z
  .object({
    data: z.object({
      iname: z.string().min(1),
      // Missing if the interface does not exist.
      ifp_ifname: z.string().default(""),
      vrid: z.int().min(VHID.min).max(VHID.max),
      effective_priority: z.int().min(PRIORITY.min).max(PRIORITY.max),
      state: z.int(),
      // Missing if there are none.
      vips: z.array(address).default([]),
    }),
  })
  .transform(({ data }): DumpedInstance => ({
    name: data.iname,
    device: data.ifp_ifname,
    vhid: data.vrid,
    priority: data.effective_priority,
    state: data.state,
    addresses: data.vips,
  }));

/** With `json_version 2` the list is a member of an object. */
const dump = z.preprocess(
  (value) => (typeof value === "object" && value !== null && "vrrp" in value ? value.vrrp : value),
  z.array(instance),
);

/** A dump is from this machine, and its size is limited. */
const LIMITS: JsonLimits = {
  depth: 64,
  entries: Number.POSITIVE_INFINITY,
  members: Number.POSITIVE_INFINITY,
};

/**
 * The VRRP instances of a dump, or why its format is unknown; `undefined` if the dump is incomplete. Never throws.
 */
export function parseDump(text: string): Dump | undefined {
  const json = parseJson(text, LIMITS);
  if (!json.ok) return undefined;
  const parsed = dump.safeParse(json.value.value);
  if (parsed.success) return { ok: true, instances: parsed.data };
  const path = z.core.toDotPath(parsed.error.issues[0]?.path ?? []);
  return { ok: false, reason: `unknown dump format at $${path}` };
}
