import type { Decoded } from "./decoded.ts";
import { shapeOf } from "./json-shape.ts";
import { isJsonObject, kindOf, parseJson } from "./json.ts";
import { decodeText } from "./text.ts";
import type { LocalVrrpInterface, VrrpList } from "./vrrp-list.ts";
import { ADVSKEW_OF_PRIORITY_ZERO, decodeMember, type Member } from "./vrrp-member.ts";

/** Most interfaces that one list may hold. */
export const MAX_INTERFACES = 4096;

/**
 * The interfaces of a list's body, whatever single fields deviate; deviations are told as anomalies. `{}`, `[]` and
 * `null` are no interfaces. A body that is no collection is `decode`; more than {@link MAX_INTERFACES} are `too_large`.
 *
 * @throws never
 * @see management API 2.1, 2.2, 4.1
 */
export function decodeVrrpList(body: Uint8Array): Decoded<VrrpList> {
  const text = decodeText(body);
  const { entries } = shapeOf(text);
  if (entries > MAX_INTERFACES && text.trimStart().startsWith("{")) {
    return listProblem("too_large", `expected at most ${MAX_INTERFACES} interfaces, got ${entries}`);
  }
  const parsed = parseJson(text);
  if (!parsed.ok) return parsed;
  const members = membersOf(parsed.value);
  if (members === undefined) {
    return listProblem("decode", `expected an object of interfaces, got ${kindOf(parsed.value)}`);
  }
  return { ok: true, value: listOf(members.map(([name, value]) => decodeMember(name, value))) };
}

function listProblem(reason: "decode" | "too_large", message: string): Decoded<VrrpList> {
  return { ok: false, problem: { reason, path: "$", message } };
}

/** The members of a collection; `undefined` where the value is none. Appliances write their empty map as `[]` or `null` too. */
function membersOf(value: unknown): readonly (readonly [string, unknown])[] | undefined {
  if (value === null || (Array.isArray(value) && value.length === 0)) return [];
  return isJsonObject(value) ? Object.entries(value) : undefined;
}

function listOf(members: readonly Member[]): VrrpList {
  return {
    interfaces: members.flatMap((member) => member.interface ?? []),
    unreadable: members.filter((member) => member.interface === undefined).map(({ name }) => name),
    anomalies: members.flatMap(({ anomalies }) => anomalies),
  };
}

/**
 * The list's body exactly as specified: strings throughout, the fields in the specification's order, `{}` for none.
 * Names must be unique.
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
