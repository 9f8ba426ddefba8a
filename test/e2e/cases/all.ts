import { APPLIANCE_CASES } from "./appliances.ts";
import type { Case } from "./case.ts";
import { EXPORTER_CASES } from "./exporters.ts";
import { VRRP_CASES } from "./vrrp.ts";
import { WEBSITE_CASES } from "./websites.ts";

/** Every case, in the order of the report. */
export const CASES: readonly Case[] = [
  ...VRRP_CASES,
  ...WEBSITE_CASES,
  ...APPLIANCE_CASES,
  ...EXPORTER_CASES,
];
