import { groupBy } from "../../support/group-by.ts";
import { listedBriefly } from "../../support/text.ts";
import type { ApplianceConfig } from "./config.ts";

/**
 * Returns the addresses that several enabled appliances share, in the order of appearance: `https://h:4849 (a and b)`. The same address
 * behind another proxy is another appliance.
 */
export function sharedAddresses(appliances: readonly ApplianceConfig[]): readonly string[] {
  const enabled = appliances.filter((appliance) => appliance.enabled);
  const byTarget = groupBy(enabled, ({ baseUrl, http: { proxy } }) => {
    return `${baseUrl} ${proxy?.host ?? ""} ${proxy?.port ?? ""}`;
  });
  return [...byTarget.values()].flatMap((members) => {
    const names = members.map(({ name }) => name);
    return names.length > 1 ? `${members[0]?.baseUrl} (${listedBriefly(names)})` : [];
  });
}
