/**
 * One VRRP interface of an appliance, as decoded. Texts are well-formed Unicode of at most 273 bytes without the
 * credentials that the request was sent with. @see management API 2.1
 */
export interface VrrpInterface {
  /** The member's name in the list: `carp0`. */
  readonly name: string;
  /** `state_current` as reported; `MASTER` and `BACKUP` are the words the specification knows. Never empty. */
  readonly state: string;
  /** 0 to 255. */
  readonly vhid: number;
  /** As reported; never empty. */
  readonly vip: string;
  /** 0 to 255; `undefined` where it was missing, unreadable or out of range. */
  readonly priority: number | undefined;
  /** -1 to 254; `undefined` likewise. */
  readonly advskew: number | undefined;
  /** Number of IP aliases; `undefined` where unreadable, 0 where missing. */
  readonly aliasCount: number | undefined;
  /** `if`; empty where missing, like the texts below. */
  readonly device: string;
  readonly netmask: string;
  /** `carppeer` */
  readonly peer: string;
  /** `1`: configured as FAILOVER MASTER, `2`: as FAILOVER BACKUP. */
  readonly type: string;
}

/** How an answer may deviate from the specification without being lost. */
export type VrrpAnomalyKind = "unknown_state" | "advskew_mismatch" | "bad_interface" | "bad_field";

export interface VrrpAnomaly {
  readonly kind: VrrpAnomalyKind;
  /** JSON path of the value: `$.carp0.priority`. */
  readonly path: string;
}

/** A decoded list. */
export interface VrrpList {
  /** In the order of the answer, save that names which are array indices come first; names unique. */
  readonly interfaces: readonly VrrpInterface[];
  /** Names of the members that are in the answer but could not be read (`bad_interface`); none is that of an interface. */
  readonly unreadable: readonly string[];
  readonly anomalies: readonly VrrpAnomaly[];
}

/** An interface as the appliance itself knows it: every field is there, and advskew follows from priority. */
export interface LocalVrrpInterface extends Omit<VrrpInterface, "priority" | "advskew" | "aliasCount"> {
  readonly priority: number;
  readonly alias: readonly string[];
}
