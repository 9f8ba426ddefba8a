import { describe } from "vitest";
import { PLANNED_CASES } from "./cases/planned.ts";
import { playCases } from "./play.ts";

describe("planned work, and what goes wrong meanwhile", () => {
  playCases(PLANNED_CASES, ["work"]);
});
