import type { KindName } from "../exporter/api/kinds.ts";
import { SKEW_OF_PRIORITY_ZERO } from "../exporter/api/vrrp.ts";
import { encodeVrrpList, type LocalVrrpInterface } from "./encode.ts";

/** The VRRP interfaces of the appliance itself, and its CARP as a whole where its kind has that. */
export interface LocalVrrp {
  readonly interfaces: readonly LocalVrrpInterface[];
  readonly carp?: LocalCarp | undefined;
}

export interface LocalCarp {
  readonly demotion: number;
  readonly allow: boolean;
  readonly maintenancemode: boolean;
}

const NO_CARP: LocalCarp = { demotion: 0, allow: true, maintenancemode: false };

/** The kinds of appliances that the reference appliance can be, and how each encodes its VRRP state. */
export const VRRP_ENCODERS = {
  management_api: ({ interfaces }) => encodeVrrpList(interfaces),
  opnsense: encodeVipStatus,
} as const satisfies Partial<Record<KindName, (state: LocalVrrp) => string>>;

export type ServedKind = keyof typeof VRRP_ENCODERS;

/** Encodes the answer of OPNsense: a row for each address, numbers as strings. */
function encodeVipStatus({ interfaces, carp = NO_CARP }: LocalVrrp): string {
  const rows = interfaces.flatMap((each) => {
    const { device, vhid, priority, vip, alias, state } = each;
    const vhidOf = { interface: device, vhid: String(vhid) };
    const shown = { status: state, status_txt: state, vhid_txt: `${vhid} (freq. 1/0)` };
    const skew = { advbase: "1", advskew: String(Math.max(0, SKEW_OF_PRIORITY_ZERO - priority)) };
    return [
      { ...vhidOf, ...skew, subnet: vip, ...shown, mode: "carp" },
      ...alias.map((subnet) => ({ ...vhidOf, subnet, ...shown, mode: "ipalias" })),
    ];
  });
  return JSON.stringify({
    total: rows.length,
    rowCount: rows.length,
    current: 1,
    rows,
    carp: {
      demotion: String(carp.demotion),
      allow: carp.allow ? "1" : "0",
      maintenancemode: carp.maintenancemode,
      status_msg: "",
    },
  });
}
