import { groupBy } from "../support/group-by.ts";
import type { ApplianceConfig } from "./config.ts";

/** Further ones are counted. */
const MAX_NAMED = 5;

/**
 * The addresses that several enabled appliances share, in the order of appearance: `https://h:4849 (a, b)`. Behind another
 * proxy is another appliance.
 */
export function sharedAddresses(appliances: readonly ApplianceConfig[]): readonly string[] {
  const enabled = appliances.filter((appliance) => appliance.enabled);
  const byTarget = groupBy(enabled, ({ baseUrl, http: { proxy } }) => {
    return `${baseUrl} ${proxy?.host ?? ""} ${proxy?.port ?? ""}`;
  });
  return [...byTarget.values()].flatMap((members) => {
    const [first, second] = members;
    if (first === undefined || second === undefined) return [];
    return `${first.baseUrl} (${listFew(members.map(({ name }) => name))})`;
  });
}

/** The first few, and how many more there are: `a, b, and 3 more`. */
export function listFew(texts: readonly string[]): string {
  const rest = texts.length - MAX_NAMED;
  return [...texts.slice(0, MAX_NAMED), ...(rest > 0 ? [`and ${rest} more`] : [])].join(", ");
}
