import { describe } from "vitest";
import { restart } from "./cases/exporters.ts";
import { playCases } from "./play.ts";

describe("from the event to the webhook: an outage, and failovers while the exporter restarts", () => {
  playCases([restart], ["third"]);
});
