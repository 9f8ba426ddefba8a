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
import { isAddress } from "../../support/address.ts";
import { cutText, type Redact } from "./text.ts";
import {
  isKnownState,
  KNOWN_STATES,
  MAX_INTERFACES,
  PRIORITY,
  SKEW_OF_PRIORITY_ZERO,
  VHID,
  type VrrpAnomaly,
  type VrrpInterface,
  type VrrpList,
} from "./vrrp.ts";

const ADVSKEW = { min: -1, max: 254 };
const CONFIGURED_ROLES = { 1: "master", 2: "backup" } as const;

/** @see management API 4.1 */
export const VRRP_LIST = {
  path: () => "/api/v1/interface/virtual",
  limitBytes: 256 * 1024,
  decode: decodeVrrpList,
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
  statuses: { 404: "gone" },
} as const satisfies ApiOperation<VrrpList>;

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
    priority !== undefined && advskew !== undefined && advskew !== SKEW_OF_PRIORITY_ZERO - priority;
  if (isMismatch) anomalies.push("advskew_mismatch");
  return anomalies;
}
