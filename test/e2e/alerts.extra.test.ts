import { describe } from "vitest";
import { EXPORTER_CASES } from "./cases/exporters.ts";
import { playCases } from "./play.ts";

describe("from the event to the webhook: failovers and an outage, while exporters restart and the network parts", () => {
  playCases(EXPORTER_CASES, ["third", "left", "right"]);
});
