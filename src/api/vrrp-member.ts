import { countTexts, readInteger, readText, type Bounds } from "./fields.ts";
import { isJsonObject, memberPath } from "./json.ts";
import type { VrrpAnomaly, VrrpInterface } from "./vrrp-list.ts";

export const VHID: Bounds = { min: 0, max: 255 };
export const PRIORITY: Bounds = { min: 0, max: 255 };
const ADVSKEW: Bounds = { min: -1, max: 254 };
/** advskew = 254 - priority. @see management API 2.1 */
export const ADVSKEW_OF_PRIORITY_ZERO = 254;

/** One member of the list; unreadable if it has no `interface`. */
export interface Member {
  readonly interface?: VrrpInterface;
  readonly anomalies: readonly VrrpAnomaly[];
}

/**
 * Decodes one member; `name` has already passed through `keep`. Deviations become anomalies; an unreadable member has
 * exactly one. Every text passes through `keep`, except the states MASTER and BACKUP. Never throws.
 */
export function decodeMember(name: string, value: unknown, keep: (text: string) => string): Member {
  const path = memberPath("$", name);
  if (!isJsonObject(value)) return unreadable(path);
  const state = value["state_current"];
  if (!isNonEmptyText(state)) return unreadable(`${path}.state_current`);
  const vhid = readInteger(value["vhid"], VHID);
  if (vhid === undefined) return unreadable(`${path}.vhid`);
  const vip = value["vip"];
  if (!isNonEmptyText(vip)) return unreadable(`${path}.vip`);
  const decoded: VrrpInterface = {
    name,
    state: isKnownState(state) ? state : keep(state),
    vhid,
    vip: keep(vip),
    priority: readInteger(value["priority"], PRIORITY),
    advskew: readInteger(value["advskew"], ADVSKEW),
    aliasCount: countTexts(value["alias"]),
    device: keep(readText(value["if"])),
    netmask: keep(readText(value["netmask"])),
    peer: keep(readText(value["carppeer"])),
    type: keep(readText(value["type"])),
  };
  return { interface: decoded, anomalies: anomaliesOf(decoded, path) };
}

/** A member that is unreadable because of the value at `path`. */
export function unreadable(path: string): Member {
  return { anomalies: [{ kind: "bad_interface", path }] };
}

function isNonEmptyText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isKnownState(state: string): boolean {
  return state === "MASTER" || state === "BACKUP";
}

function anomaliesOf(
  { state, priority, advskew, aliasCount }: VrrpInterface,
  path: string,
): readonly VrrpAnomaly[] {
  const anomalies: VrrpAnomaly[] = [];
  if (!isKnownState(state)) anomalies.push({ kind: "unknown_state", path: `${path}.state_current` });
  for (const [field, value] of Object.entries({ priority, advskew, alias: aliasCount })) {
    if (value === undefined) anomalies.push({ kind: "bad_field", path: `${path}.${field}` });
  }
  if (isMismatch(priority, advskew)) anomalies.push({ kind: "advskew_mismatch", path: `${path}.advskew` });
  return anomalies;
}

function isMismatch(priority: number | undefined, advskew: number | undefined): boolean {
  return priority !== undefined && advskew !== undefined && advskew !== ADVSKEW_OF_PRIORITY_ZERO - priority;
}
