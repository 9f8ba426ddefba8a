import type { Problem } from "../schema.ts";
import type { Flap } from "../flapping.ts";
import type { GoneGroup } from "../presence.ts";
import { groupName, instantOf } from "../words.ts";

/** What is wrong and can be told only by those who remember what was before. */
export interface Recalled {
  /** Groups that were reported, and are no longer. */
  readonly vanished: readonly (GoneGroup & { readonly cluster: string })[];
  readonly flapping: readonly Flap[];
}

export function recalledProblems({ vanished, flapping }: Recalled): readonly Problem[] {
  return [
    ...vanished.map(({ cluster, vhid, vip, goneAt }) => ({
      kind: "group_vanished" as const,
      severity: "critical" as const,
      summary: `${groupName({ vhid, vip })} is not reported any more by any appliance`,
      cluster,
      group: { vhid, vip },
      since: instantOf(goneAt.wallMs),
    })),
    ...flapping.map(({ cluster, appliance, vhid, vip, at }) => ({
      kind: "flapping" as const,
      severity: "warning" as const,
      summary: `${appliance} flaps: its state in ${groupName({ vhid, vip })} has changed four times or more in 5 minutes`,
      cluster,
      appliance,
      group: { vhid, vip },
      since: instantOf(at.wallMs),
    })),
  ];
}
