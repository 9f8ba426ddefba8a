import { isIP } from "node:net";

import { z } from "zod";

import type { JsonLimits } from "../../api/json-scan.ts";
import { parseJson } from "../../api/json.ts";
import { PRIORITY, VHID } from "../../api/vrrp-member.ts";

/** A virtual address of an instance. */
export interface DumpedAddress {
  readonly address: string;
  /** Bits of the network's part. */
  readonly prefix: number;
}

/** What is read of a VRRP instance in keepalived's JSON dump. */
export interface DumpedInstance {
  readonly name: string;
  readonly device: string;
  readonly vhid: number;
  readonly priority: number;
  /** As keepalived counts them: 0 INIT, 1 BACKUP, 2 MASTER, 3 FAULT. */
  readonly state: number;
  /** In the order of keepalived's configuration. */
  readonly addresses: readonly DumpedAddress[];
}

export type Dump =
  | { readonly ok: true; readonly instances: readonly DumpedInstance[] }
  /** `reason`: for people. */
  | { readonly ok: false; readonly reason: string };

/** `198.51.100.100/24 dev eth0 scope global set`: without a prefix, the address is a network of its own. */
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
      // Missing where the interface does not exist.
      ifp_ifname: z.string().default(""),
      vrid: z.int().min(VHID.min).max(VHID.max),
      effective_priority: z.int().min(PRIORITY.min).max(PRIORITY.max),
      state: z.int(),
      // Missing where there are none.
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

/** With keepalived's `json_version 2` the list is a member of an object. */
const dump = z.preprocess(
  (value) => (typeof value === "object" && value !== null && "vrrp" in value ? value.vrrp : value),
  z.array(instance),
);

/** A dump comes from this machine, and its file is bounded. */
const LIMITS: JsonLimits = {
  depth: 64,
  entries: Number.POSITIVE_INFINITY,
  members: Number.POSITIVE_INFINITY,
};

/**
 * The VRRP instances of a whole dump, or why its form is not known; `undefined` where the text is no whole dump, as each
 * of its beginnings. Never throws.
 */
export function parseDump(text: string): Dump | undefined {
  const json = parseJson(text, LIMITS);
  if (!json.ok) return undefined;
  const parsed = dump.safeParse(json.value.value);
  if (parsed.success) return { ok: true, instances: parsed.data };
  const path = z.core.toDotPath(parsed.error.issues[0]?.path ?? []);
  return { ok: false, reason: `not the form that is known of keepalived's dumps, at $${path}` };
}
