import { expect, test } from "vitest";
import { ALERTS } from "./alert-rules.ts";
import { rulesOf } from "./cover.ts";
import { coverAt, scenariosAt } from "./scenarios.ts";

test.for([2, 15, 30])("in a few scenarios each rule fires that fires in all at %d s", (seconds) => {
  const [few, all] = [coverAt(seconds), scenariosAt(seconds)];
  expect(new Set(few.flatMap(rulesOf))).toEqual(new Set(all.flatMap(rulesOf)));
  expect(few.length).toBeLessThan(all.length);
});

test("at 30 s, each alert fires", () => {
  const fired = coverAt(30).flatMap(({ expected }) => expected.map(({ alert }) => alert));
  expect(new Set(fired)).toEqual(new Set(ALERTS.map(({ alert }) => alert)));
});
