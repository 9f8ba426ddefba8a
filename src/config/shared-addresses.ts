import type { ApplianceConfig } from "./config.ts";

/** An address of several enabled appliances. */
export interface SharedAddress {
  readonly baseUrl: string;
  /** At least two names. */
  readonly appliances: readonly string[];
}

/** Further ones are counted. */
const MAX_NAMED = 5;

/** The addresses that several enabled appliances share, in the order of appearance. Other proxy, other appliance. */
export function findSharedAddresses(appliances: readonly ApplianceConfig[]): readonly SharedAddress[] {
  const byTarget = new Map<string, { baseUrl: string; appliances: string[] }>();
  for (const { name, baseUrl, enabled, http } of appliances) {
    if (!enabled) continue;
    const target = `${baseUrl} ${http.proxy?.host ?? ""} ${http.proxy?.port ?? ""}`;
    const shared = byTarget.get(target);
    if (shared) shared.appliances.push(name);
    else byTarget.set(target, { baseUrl, appliances: [name] });
  }
  return [...byTarget.values()].filter(({ appliances: { length } }) => length > 1);
}

/** The first few in one line: `https://h:4849 (a, b, and 3 more), and 2 more`. */
export function describeSharedAddresses(shared: readonly SharedAddress[]): string {
  return listFew(shared.map(({ baseUrl, appliances }) => `${baseUrl} (${listFew(appliances)})`));
}

/** The first few, and how many more there are: `a, b, and 3 more`. */
export function listFew(texts: readonly string[]): string {
  const rest = texts.length - MAX_NAMED;
  return [...texts.slice(0, MAX_NAMED), ...(rest > 0 ? [`and ${rest} more`] : [])].join(", ");
}
