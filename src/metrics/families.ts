import type { Family } from "./family.ts";
import { DISCOVERED_FAMILIES, DISCOVERY_FAMILIES } from "./families/discovery.ts";
import { GROUP_FAMILIES } from "./families/groups.ts";
import { POLLING_FAMILIES } from "./families/polling.ts";
import { VERDICT_FAMILIES } from "./families/verdicts.ts";
import { VRRP_FAMILIES } from "./families/vrrp.ts";
import { WEBSITE_FAMILIES } from "./families/websites.ts";

/** The families of what appliances reported. */
export const FACT_FAMILIES: readonly Family[] = [
  ...VRRP_FAMILIES,
  ...GROUP_FAMILIES,
  ...WEBSITE_FAMILIES,
  ...DISCOVERY_FAMILIES,
  ...POLLING_FAMILIES,
];

/** Every metric family of the fleet, in the order of the exposition. Names and labels are a contract: docs/metrics.md. */
export const FLEET_FAMILIES: readonly Family[] = [
  ...FACT_FAMILIES,
  ...VERDICT_FAMILIES,
  ...DISCOVERED_FAMILIES,
];
