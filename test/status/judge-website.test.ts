import { expect, test } from "vitest";
import { resultAfter } from "../../src/fleet/website.ts";
import type { ProtocolResult, TestResult } from "../../src/fleet/snapshot.ts";
import { judgeWebsite, type View } from "../../src/status/judge-website.ts";
import type { WebsiteState } from "../../src/status/states.ts";

const master = (result: TestResult): View => ({ isMaster: true, result });
const backup = (result: TestResult): View => ({ isMaster: false, result });
const IN_GROUPS = { hasGroups: true, hasDisabled: false };

test.each<readonly [WebsiteState, readonly View[]]>([
  ["up", [master("up"), backup("up")]],
  ["up", [master("up"), backup("unknown")]],
  ["up", [master("up")]],
  ["partially_down", [master("up"), backup("down")]],
  ["partially_down", [master("up"), master("unknown"), backup("down")]],
  ["down_at_master", [master("down"), backup("up")]],
  ["down_at_master", [master("down"), master("up")]],
  ["down", [master("down"), backup("down")]],
  ["down", [master("down"), backup("unknown")]],
  ["down", [master("unknown"), backup("down")]],
  ["unknown", [master("unknown"), backup("up")]],
  ["unknown", [backup("up"), backup("up")]],
  ["unknown", [backup("up"), backup("down")]],
  ["unknown", [master("unknown"), backup("unknown")]],
  ["unknown", []],
])("in a cluster with groups: %s by %j", (state, views) => {
  expect(judgeWebsite(views, IN_GROUPS)).toBe(state);
});

test.each<readonly [WebsiteState, readonly View[]]>([
  ["up", [backup("up")]],
  ["up", [backup("up"), backup("unknown")]],
  ["down", [backup("down")]],
  ["partially_down", [backup("up"), backup("down")]],
  ["unknown", [backup("unknown")]],
])("without groups: %s by %j", (state, views) => {
  expect(judgeWebsite(views, { hasGroups: false, hasDisabled: false })).toBe(state);
});

test("there is no verdict where only a disabled appliance can be the master, unless all others find it down", () => {
  const context = { hasGroups: true, hasDisabled: true };
  expect(judgeWebsite([backup("up")], context)).toBeUndefined();
  expect(judgeWebsite([backup("down")], context)).toBe("down");
  expect(judgeWebsite([master("unknown"), backup("up")], context)).toBe("unknown");
});

test.each<readonly [results: readonly TestResult[], confirmed: readonly TestResult[]]>([
  [["down"], ["down"]],
  [
    ["up", "down", "down"],
    ["up", "up", "down"],
  ],
  [
    ["up", "down", "up", "down"],
    ["up", "up", "up", "up"],
  ],
  [
    ["up", "unknown", "unknown", "up"],
    ["up", "up", "unknown", "up"],
  ],
  [
    ["up", "down", "unknown"],
    ["up", "up", "unknown"],
  ],
  [
    ["down", "unknown", "down", "unknown", "unknown"],
    ["down", "down", "down", "down", "unknown"],
  ],
])("tests that find %j count as %j", (results, confirmed) => {
  let before: ProtocolResult | undefined;
  const found = results.map((latest) => (before = resultAfter(before, "https", latest)).result);
  expect(found).toEqual(confirmed);
});
