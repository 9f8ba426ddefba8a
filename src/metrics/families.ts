import type { Families } from "./family.ts";
import { POLLING_FAMILIES } from "./families/polling.ts";
import { REPORTED_FAMILIES } from "./families/reported.ts";
import { VERDICT_FAMILIES } from "./families/verdicts.ts";

/** The families of what appliances reported. */
export const FACT_FAMILIES: Families = { ...REPORTED_FAMILIES, ...POLLING_FAMILIES };

/** Every metric family of the fleet. Names and labels are a contract: docs/metrics.md. */
export const FLEET_FAMILIES: Families = { ...FACT_FAMILIES, ...VERDICT_FAMILIES };
