import { isIPv4 } from "node:net";
import {
  anonymizeAddress,
  anonymizeNetmask,
  kept,
  listOf,
  mapOf,
  nameOf,
  objectOf,
  structure,
} from "./anonymize.ts";
import type { Outcome } from "./failure.ts";
import {
  isJsonObject,
  isUnknown,
  kindOf,
  oneOf,
  parseJson,
  readInteger,
  readList,
  readText,
  rejected,
} from "./json.ts";
import type { ApiOperation } from "./operation.ts";
import { isAddress, plainAddress } from "../../support/address.ts";
import { cutText, type Redact } from "./text.ts";

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
}

/** An interface on the appliance itself, where advskew follows from priority. */
export interface LocalVrrpInterface extends Omit<VrrpInterface, "advskew" | "aliases" | "configuredRole"> {
  /** The code of the configured role, as it is sent. */
  readonly type: string;
  readonly priority: number;
  readonly alias: readonly string[];
}

export const VHID = { min: 0, max: 255 };
export const PRIORITY = { min: 0, max: 255 };
const ADVSKEW = { min: -1, max: 254 };
/** The skew of priority 0, since advskew = 254 - priority. @see management API 2.1 */
const ADVSKEW_OF_PRIORITY_ZERO = 254;
/** This bounds the series of an appliance. */
const MAX_INTERFACES = 1024;
const CONFIGURED_ROLES = { 1: "master", 2: "backup" } as const;

/** @see management API 4.1 */
export const VRRP_LIST = {
  path: () => "/api/v1/interface/virtual",
  limitBytes: 256 * 1024,
  decode: decodeVrrpList,
  encode: encodeVrrpList,
  anonymize: mapOf(
    "interface",
    objectOf({
      state_current: (value, number) => (KNOWN_STATES.has(value) ? value : structure(value, number)),
      vhid: kept((value) => readInteger(value, VHID)),
      vip: anonymizeAddress,
      priority: kept((value) => readInteger(value, PRIORITY)),
      advskew: kept((value) => readInteger(value, ADVSKEW)),
      alias: listOf(anonymizeAddress),
      if: nameOf("if"),
      netmask: anonymizeNetmask,
      carppeer: anonymizeAddress,
      type: kept(oneOf(CONFIGURED_ROLES)),
    }),
  ),
  timing: "vrrp",
  limits: [],
  statuses: { 404: "gone" },
} as const satisfies ApiOperation<VrrpList, readonly LocalVrrpInterface[]>;

/**
 * Decodes a VRRP list. Deviations of single fields become anomalies. `{}`, `[]` and `null` are empty lists, any other body is `decode`, and
 * more than 1,024 interfaces are `too_large`. A key that occurs twice in one object is `bad_field`, and its last value counts. Every text
 * is redacted, then cut; if two names are equal after that, the second is `bad_interface`.
 *
 * @see management API 2.1, 2.2, 4.1
 */
export function decodeVrrpList(body: Uint8Array, redact: Redact): Outcome<VrrpList> {
  const parsed = parseJson(body);
  if (!parsed.ok) return parsed;
  const { value: list, repeated } = parsed.value;
  const members = membersOf(list);
  if (members === undefined)
    return rejected("decode", `expected an object of interfaces, got ${kindOf(list)}`);
  if (members.length > MAX_INTERFACES)
    return rejected("too_large", `expected at most ${MAX_INTERFACES} interfaces`);
  const keep = (text: string): string => cutText(redact(text));
  const interfaces = new Map<string, VrrpInterface>();
  const unreadable = new Set<string>();
  const anomalies: VrrpAnomaly[] = repeated.map(() => "bad_field");
  for (const [rawName, value] of members) {
    const name = keep(rawName);
    const isDouble = interfaces.has(name) || unreadable.has(name);
    const read = isDouble ? undefined : readInterface(name, value, keep);
    if (read !== undefined) interfaces.set(name, read);
    else if (!isDouble) unreadable.add(name);
    anomalies.push(...(read === undefined ? (["bad_interface"] as const) : anomaliesOf(read)));
  }
  const value = { interfaces: [...interfaces.values()], unreadable: [...unreadable], anomalies };
  return { ok: true, value };
}

/** Returns the interface that has this address as its VIP or an alias; `undefined` if none has. @see plainAddress */
export function interfaceAt({ interfaces }: VrrpList, address: string): VrrpInterface | undefined {
  // Canonical texts cost far more than this, and most lists have IPv4 addresses only.
  const isIt = (text: string): boolean =>
    text === address || (!isIPv4(text) && plainAddress(text) === address);
  return interfaces.find(({ vip, aliases }) => isIt(vip) || aliases?.some(isIt) === true);
}

/** Returns the members of a list; `undefined` if the value is not a list. */
function membersOf(value: unknown): readonly (readonly [string, unknown])[] | undefined {
  if (value === null || (Array.isArray(value) && value.length === 0)) return [];
  return isJsonObject(value) ? Object.entries(value) : undefined;
}

/** Reads an interface. Every text passes through `keep`, except known states, since a password may be one of these words. */
function readInterface(name: string, value: unknown, keep: Redact): VrrpInterface | undefined {
  if (!isJsonObject(value)) return undefined;
  const { state_current: state, vip } = value;
  const vhid = readInteger(value["vhid"], VHID);
  if (!isNonEmptyText(state) || vhid === undefined || !isNonEmptyText(vip)) return undefined;
  return {
    name,
    state: isKnownState(state) ? state : keep(state),
    vhid,
    vip: keep(vip),
    priority: readInteger(value["priority"], PRIORITY),
    advskew: readInteger(value["advskew"], ADVSKEW),
    aliases: readTexts(value["alias"])?.map(keep),
    device: keep(readText(value["if"])),
    netmask: keep(readText(value["netmask"])),
    peer: keep(readText(value["carppeer"])),
    configuredRole: oneOf(CONFIGURED_ROLES)(value["type"]),
  };
}

function isNonEmptyText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** The API specifies the first two states; appliances also report the others, which VRRP implementations have. @see management API 2.1, 3 */
const KNOWN_STATES: ReadonlySet<unknown> = new Set(["MASTER", "BACKUP", "INIT", "FAULT"]);

/** Whether a state is one of those that the API or a VRRP implementation has. */
export function isKnownState(state: string): boolean {
  return KNOWN_STATES.has(state);
}

/** Returns the non-empty strings in an array, none for a missing value. */
function readTexts(value: unknown): readonly string[] | undefined {
  if (isUnknown(value)) return [];
  const list = readList(value);
  return list?.every((item) => typeof item === "string") ? list.filter((text) => text !== "") : undefined;
}

function anomaliesOf({ state, vip, priority, advskew, aliases }: VrrpInterface): readonly VrrpAnomaly[] {
  const unreadable = [priority, advskew, aliases].filter((value) => value === undefined);
  const noAddresses = [vip, ...(aliases ?? [])].filter((text) => !isAddress(text));
  const anomalies: VrrpAnomaly[] = [...unreadable, ...noAddresses].map(() => "bad_field");
  if (!isKnownState(state)) anomalies.push("unknown_state");
  const isMismatch =
    priority !== undefined && advskew !== undefined && advskew !== ADVSKEW_OF_PRIORITY_ZERO - priority;
  if (isMismatch) anomalies.push("advskew_mismatch");
  return anomalies;
}

/** Encodes a list as specified: strings only, fields in the specification's order, `{}` if empty. Names must be unique. */
export function encodeVrrpList(interfaces: readonly LocalVrrpInterface[]): string {
  const members = interfaces.map((each) => {
    const details = {
      advskew: String(ADVSKEW_OF_PRIORITY_ZERO - each.priority),
      alias: each.alias,
      carppeer: each.peer,
      if: each.device,
      netmask: each.netmask,
      priority: String(each.priority),
      state_current: each.state,
      type: each.type,
      vhid: String(each.vhid),
      vip: each.vip,
    };
    return `${JSON.stringify(each.name)}:${JSON.stringify(details)}`;
  });
  return `{${members.join(",")}}`;
}
