import { isIP } from "node:net";

import type { LocalVrrpInterface } from "../../api/vrrp.ts";
import type { DumpedAddress, DumpedInstance } from "./dump.ts";

/** Fields of the API that keepalived's dump does not contain. */
export interface InstanceSettings {
  /** `carppeer` */
  readonly peer: string;
  readonly type: string;
}

export const DEFAULT_SETTINGS: InstanceSettings = { peer: "224.0.0.18", type: "2" };

const KEEPALIVED_MASTER = 2;

/**
 * Converts instances to the API's form, with `settings` by name. The API has no FAULT and INIT: neither state holds the
 * addresses, so both become BACKUP. Drops instances without virtual addresses, as the API requires one.
 *
 * @see management API 2.1
 */
export function toInterfaces(
  instances: readonly DumpedInstance[],
  settings: ReadonlyMap<string, InstanceSettings>,
): readonly LocalVrrpInterface[] {
  return instances.flatMap(({ name, device, vhid, priority, state, addresses: [vip, ...others] }) => {
    if (vip === undefined) return [];
    return {
      name,
      device,
      vhid,
      priority,
      state: state === KEEPALIVED_MASTER ? "MASTER" : "BACKUP",
      vip: vip.address,
      netmask: netmaskOf(vip),
      alias: others.map(({ address }) => address),
      ...(settings.get(name) ?? DEFAULT_SETTINGS),
    };
  });
}

/** `255.255.255.0`, `ffff:ffff:ffff:ffff::`; IPv6 as in RFC 5952. */
function netmaskOf({ address, prefix }: DumpedAddress): string {
  if (isIP(address) === 4) return partsOf(prefix, 4, 8).join(".");
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
