import { isIPv4 } from "node:net";
import { plainAddress } from "../../support/address.ts";

/**
 * One decoded VRRP interface of an appliance. Texts are well-formed Unicode of at most 273 bytes, with the credentials
 * of the request redacted. @see management API 2.1
 */
export interface VrrpInterface {
  /** The key in the list, such as `carp0`. */
  readonly name: string;
  /** The reported `state_current`, specified as `MASTER` or `BACKUP`; never empty. */
  readonly state: string;
  /** The VHID, 0 to 255. */
  readonly vhid: number;
  /** The reported address; never empty. A text that is no address is `bad_field`, and stays as reported; so does such an alias. */
  readonly vip: string;
  /** The priority, 0 to 255; `undefined` if missing, unreadable or out of range. */
  readonly priority: number | undefined;
  /** Whether something else than priorities may decide who wins elections; default: no. */
  readonly isOutOfOrder?: boolean;
  /** The skew, -1 to 254; `undefined` if missing, unreadable or out of range. */
  readonly advskew: number | undefined;
  /** The reported aliases; `undefined` if unreadable, empty if missing. */
  readonly aliases: readonly string[] | undefined;
  /** The member `if`; empty if missing, as are `netmask` and `carppeer`. */
  readonly device: string;
  readonly netmask: string;
  readonly peer: string;
  /** The role in the configuration, FAILOVER MASTER or FAILOVER BACKUP; `undefined` if missing or unreadable. */
  readonly configuredRole: "master" | "backup" | undefined;
}

/** A deviation that does not invalidate the answer. */
export type VrrpAnomaly = "unknown_state" | "advskew_mismatch" | "bad_interface" | "bad_field";

export interface VrrpList {
  /** The interfaces in the order of the answer, except that names that are array indices come first. Names are unique. */
  readonly interfaces: readonly VrrpInterface[];
  /** The names of members that could not be read (`bad_interface`); never the name of an interface. */
  readonly unreadable: readonly string[];
  readonly anomalies: readonly VrrpAnomaly[];
  /** Whether something cannot be read that may be any interface, since it has no name; default: no. */
  readonly hasUnnamed?: boolean;
  /** How much the appliance holds back in all elections, beyond its priorities; `undefined` if unreadable, or if it has no such number. */
  readonly demotion?: number | undefined;
  /** Why the appliance takes nothing over; `undefined` if it does, or if that is not known. */
  readonly restraint?: Restraint | undefined;
}

export type Restraint = "maintenance_mode" | "carp_disabled";

export const VHID = { min: 0, max: 255 };
export const PRIORITY = { min: 0, max: 255 };
/** The skew of priority 0, since a skew is 254 - priority. @see management API 2.1 */
export const SKEW_OF_PRIORITY_ZERO = 254;
/** This bounds the series of an appliance. */
export const MAX_INTERFACES = 1024;

/** The first two states are those of members that take part; the others are those that implementations of VRRP and CARP have besides. */
export const KNOWN_STATES: ReadonlySet<unknown> = new Set(["MASTER", "BACKUP", "INIT", "FAULT", "DISABLED"]);

/** Whether a state is one of those that an implementation of VRRP or CARP has. */
export function isKnownState(state: string): boolean {
  return KNOWN_STATES.has(state);
}

/** Returns the interface that has this address as its VIP or an alias; `undefined` if none has. @see plainAddress */
export function interfaceAt({ interfaces }: VrrpList, address: string): VrrpInterface | undefined {
  // Canonical texts cost far more than this, and most lists have IPv4 addresses only.
  const isIt = (text: string): boolean =>
    text === address || (!isIPv4(text) && plainAddress(text) === address);
  return interfaces.find(({ vip, aliases }) => isIt(vip) || aliases?.some(isIt) === true);
}
