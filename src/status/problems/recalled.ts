import type { Problem } from "../schema.ts";
import type { Flap } from "../flapping.ts";
import type { GroupRef } from "../presence.ts";
import { groupName, instantOf } from "../words.ts";

/** What is wrong and can be told only by those who remember what was before. */
export interface Recalled {
  /** Groups that were reported, and are no longer; `atMs`: since when, Unix time in milliseconds. */
  readonly vanished: readonly (GroupRef & { readonly cluster: string; readonly atMs: number })[];
  readonly flapping: readonly Flap[];
}

export function recalledProblems({ vanished, flapping }: Recalled): readonly Problem[] {
  return [
    ...vanished.map(({ cluster, vhid, vip, atMs }) => ({
      kind: "group_vanished" as const,
      severity: "critical" as const,
      summary: `${groupName({ vhid, vip })} is not reported any more by any appliance`,
      cluster,
      group: { vhid, vip },
      since: instantOf(atMs),
    })),
    ...flapping.map(({ cluster, appliance, vhid, vip, atMs }) => ({
      kind: "flapping" as const,
      severity: "warning" as const,
      summary: `${appliance} flaps: its state in ${groupName({ vhid, vip })} has changed four times or more in 5 minutes`,
      cluster,
      appliance,
      group: { vhid, vip },
      since: instantOf(atMs),
    })),
  ];
}
