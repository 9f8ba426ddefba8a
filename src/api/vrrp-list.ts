/**
 * One decoded VRRP interface of an appliance. Texts are well-formed Unicode of at most 273 bytes, with the credentials
 * of the request redacted. @see management API 2.1
 */
export interface VrrpInterface {
  /** The key in the list: `carp0`. */
  readonly name: string;
  /** `state_current` as reported; the specification defines `MASTER` and `BACKUP`. Never empty. */
  readonly state: string;
  /** 0 to 255. */
  readonly vhid: number;
  /** As reported; never empty. */
  readonly vip: string;
  /** 0 to 255; `undefined` if missing, unreadable or out of range. */
  readonly priority: number | undefined;
  /** -1 to 254; `undefined` in the same cases. */
  readonly advskew: number | undefined;
  /** Number of IP aliases; `undefined` if unreadable, 0 if missing. */
  readonly aliasCount: number | undefined;
  /** `if`; empty if missing, like the texts below. */
  readonly device: string;
  readonly netmask: string;
  /** `carppeer` */
  readonly peer: string;
  /** `1`: configured as FAILOVER MASTER, `2`: as FAILOVER BACKUP. */
  readonly type: string;
}

/** Deviations from the specification that do not invalidate the answer. */
export type VrrpAnomalyKind = "unknown_state" | "advskew_mismatch" | "bad_interface" | "bad_field";

export interface VrrpAnomaly {
  readonly kind: VrrpAnomalyKind;
  /** JSON path of the value: `$.carp0.priority`. */
  readonly path: string;
}

export interface VrrpList {
  /** In the order of the answer, except that names that are array indices come first. Names are unique. */
  readonly interfaces: readonly VrrpInterface[];
  /** Names of members that could not be read (`bad_interface`); never the name of an interface. */
  readonly unreadable: readonly string[];
  readonly anomalies: readonly VrrpAnomaly[];
}

/** An interface on the appliance itself: complete, and advskew follows from priority. */
export interface LocalVrrpInterface extends Omit<VrrpInterface, "priority" | "advskew" | "aliasCount"> {
  readonly priority: number;
  readonly alias: readonly string[];
}
