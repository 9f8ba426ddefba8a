import { describe } from "vitest";
import { APPLIANCE_CASES } from "./cases/appliances.ts";
import { EXPORTER_CASES } from "./cases/exporters.ts";
import { plannedSplit } from "./cases/planned.ts";
import { VRRP_CASES } from "./cases/vrrp.ts";
import { WEBSITE_CASES } from "./cases/websites.ts";
import { playCases } from "./play.ts";

/** In the order of the report. */
const CASES = [...VRRP_CASES, plannedSplit, ...WEBSITE_CASES, ...APPLIANCE_CASES, ...EXPORTER_CASES];

describe("from the event to the webhook: every case", () => {
  playCases(CASES, ["main", "twin", "third", "left", "right"]);
});
