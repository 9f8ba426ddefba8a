import type { Decoded } from "./decoded.ts";
import { isJsonObject, kindOf, memberPath, parseJson } from "./json.ts";
import { cutText, type Redact } from "./kept-text.ts";
import type { OperationDescriptor } from "./operation.ts";
import { decodeText } from "./text.ts";
import type { LocalVrrpInterface, VrrpList } from "./vrrp-list.ts";
import { ADVSKEW_OF_PRIORITY_ZERO, decodeMember, unreadable, type Member } from "./vrrp-member.ts";

const LIMITS = { bytes: 256 * 1024, json: { depth: 8, entries: 1024, members: 64 } } as const;

/** The list of VRRP interfaces. @see management API 4.1 */
export const VRRP_LIST = {
  scope: "appliance",
  path: () => "/api/v1/interface/virtual",
  limits: LIMITS,
  decode: decodeVrrpList,
  encode: encodeVrrpList,
  timing: "vrrp",
  takesSlot: false,
} as const satisfies OperationDescriptor<VrrpList, readonly LocalVrrpInterface[]>;

/**
 * Decodes a VRRP list. Deviations of single fields become anomalies. `{}`, `[]` and `null` are empty lists. A key that
 * occurs twice in one object is `bad_field`, and its last value counts. Any other body is `decode`; a body beyond
 * {@link LIMITS} is `too_large`. Every text is redacted, then cut; if two names are equal after that, the second is
 * `bad_interface`.
 *
 * @throws never
 * @see management API 2.1, 2.2, 4.1
 */
export function decodeVrrpList(body: Uint8Array, redact: Redact): Decoded<VrrpList> {
  const parsed = parseJson(decodeText(body), LIMITS.json);
  if (!parsed.ok) return parsed;
  const { value, repeated } = parsed.value;
  const members = membersOf(value);
  if (members === undefined) {
    const message = `expected an object of interfaces, got ${kindOf(value)}`;
    return { ok: false, problem: { reason: "decode", path: "$", message } };
  }
  const keep = (text: string): string => cutText(redact(text));
  const list = listOf(members, keep);
  const places = repeated.map((keys) => keys.reduce((path, key) => memberPath(path, keep(key)), "$"));
  const anomalies = places.map((path) => ({ kind: "bad_field", path }) as const);
  return { ok: true, value: { ...list, anomalies: [...list.anomalies, ...anomalies] } };
}

/** The members of a list; `undefined` if the value is not a list. Appliances also write the empty list as `[]` or `null`. */
function membersOf(value: unknown): readonly (readonly [string, unknown])[] | undefined {
  if (value === null || (Array.isArray(value) && value.length === 0)) return [];
  return isJsonObject(value) ? Object.entries(value) : undefined;
}

function listOf(entries: readonly (readonly [string, unknown])[], keep: (text: string) => string): VrrpList {
  const members = new Map<string, Member>();
  const doubles: Member[] = [];
  for (const [rawName, value] of entries) {
    const name = keep(rawName);
    if (members.has(name)) doubles.push(unreadable(memberPath("$", name)));
    else members.set(name, decodeMember(name, value, keep));
  }
  return {
    interfaces: [...members.values()].flatMap((member) => member.interface ?? []),
    unreadable: [...members].flatMap(([name, member]) => (member.interface === undefined ? [name] : [])),
    anomalies: [...members.values(), ...doubles].flatMap(({ anomalies }) => anomalies),
  };
}

/**
 * Encodes a list exactly as specified: strings only, fields in the specification's order, `{}` if empty. Names must be
 * unique.
 *
 * @see management API 2.1, 2.2, 4.1
 */
export function encodeVrrpList(interfaces: readonly LocalVrrpInterface[]): string {
  const members = interfaces.map((each) => `${JSON.stringify(each.name)}:${JSON.stringify(detailsOf(each))}`);
  return `{${members.join(",")}}`;
}

function detailsOf(each: LocalVrrpInterface): Readonly<Record<string, string | readonly string[]>> {
  return {
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
}
