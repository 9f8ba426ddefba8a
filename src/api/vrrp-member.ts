import { readInteger, readText, readTexts, type Bounds } from "./fields.ts";
import { isJsonObject, memberPath } from "./json.ts";
import type { VrrpAnomaly, VrrpInterface } from "./vrrp-list.ts";

/** Bounds of `vhid`. */
export const VHID: Bounds = { min: 0, max: 255 };
/** Bounds of `priority`. */
export const PRIORITY: Bounds = { min: 0, max: 255 };
const ADVSKEW: Bounds = { min: -1, max: 254 };
/** advskew = 254 - priority. @see management API 2.1 */
export const ADVSKEW_OF_PRIORITY_ZERO = 254;

/** One member; without `interface` it is unreadable. */
export interface Member {
  readonly name: string;
  readonly interface?: VrrpInterface;
  readonly anomalies: readonly VrrpAnomaly[];
}

/** One member of the list. Deviations are told as anomalies; an unreadable member adds one alone. Never throws. */
export function decodeMember(name: string, value: unknown): Member {
  const path = memberPath("$", name);
  if (!isJsonObject(value)) return unreadable(name, path);
  const state = value["state_current"];
  if (!isNonEmptyText(state)) return unreadable(name, `${path}.state_current`);
  const vhid = readInteger(value["vhid"], VHID);
  if (vhid === undefined) return unreadable(name, `${path}.vhid`);
  const vip = value["vip"];
  if (!isNonEmptyText(vip)) return unreadable(name, `${path}.vip`);
  const decoded = { name, state, vhid, vip, ...otherFields(value) };
  return { name, interface: decoded, anomalies: anomaliesOf(decoded, path) };
}

function unreadable(name: string, path: string): Member {
  return { name, anomalies: [{ kind: "bad_interface", path }] };
}

function isNonEmptyText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** The fields that an interface is kept without. */
function otherFields(
  value: Readonly<Record<string, unknown>>,
): Omit<VrrpInterface, "name" | "state" | "vhid" | "vip"> {
  return {
    priority: readInteger(value["priority"], PRIORITY),
    advskew: readInteger(value["advskew"], ADVSKEW),
    alias: readTexts(value["alias"]),
    device: readText(value["if"]),
    netmask: readText(value["netmask"]),
    peer: readText(value["carppeer"]),
    type: readText(value["type"]),
  };
}

function anomaliesOf(
  { state, priority, advskew, alias }: VrrpInterface,
  path: string,
): readonly VrrpAnomaly[] {
  const anomalies: VrrpAnomaly[] = [];
  if (state !== "MASTER" && state !== "BACKUP")
    anomalies.push({ kind: "unknown_state", path: `${path}.state_current` });
  for (const [field, value] of Object.entries({ priority, advskew, alias })) {
    if (value === undefined) anomalies.push({ kind: "bad_field", path: `${path}.${field}` });
  }
  if (isMismatch(priority, advskew)) anomalies.push({ kind: "advskew_mismatch", path: `${path}.advskew` });
  return anomalies;
}

function isMismatch(priority: number | undefined, advskew: number | undefined): boolean {
  return priority !== undefined && advskew !== undefined && advskew !== ADVSKEW_OF_PRIORITY_ZERO - priority;
}
