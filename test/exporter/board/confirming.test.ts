import { expect, test } from "vitest";
import { operationKey } from "../../../src/exporter/api/operation.ts";
import type { ApplianceConfig } from "../../../src/exporter/config/config.ts";
import type { Observation } from "../../../src/exporter/polling/observation.ts";
import type { ConfirmingPolls } from "../../../src/exporter/polling/runner.ts";
import { confirmingPolls } from "../../../src/exporter/board/confirming.ts";
import { MEMBER_A, MEMBER_B } from "../fleet/support.ts";
import { failed, interfaceOf, listOf, seen, websiteOf } from "../../support/observations.ts";
import { judgedFleet } from "../judge/support.ts";

const NONE: readonly ConfirmingPolls[] = [];
const LISTS: ConfirmingPolls = {
  appliances: ["a", "b"],
  operation: { kind: "vrrp" },
  occasion: "confirming",
  afterMs: 1000,
};
const TEST: ConfirmingPolls = {
  appliances: ["a"],
  operation: { kind: "website_test", websiteId: 1 },
  occasion: "confirming",
  afterMs: 5000,
};

const says = (appliance: string, state: string): Observation =>
  seen.vrrp(appliance, listOf([interfaceOf({ state })]));
const finds = (status: number): Observation => seen.website("a", 1, [{ protocol: "http", status }]);

/** What each of these observations calls for, one a second. */
function calledFor(...observations: readonly Observation[]): readonly (readonly ConfirmingPolls[])[] {
  const take = judgedFleet([{ ...MEMBER_A, websites: [websiteOf({ id: 1 })] }, MEMBER_B]);
  return observations.map((observation, nth) =>
    confirmingPolls(take({ ...observation, expiresAtMs: 1e9 }, nth * 1000).judged, observation, []),
  );
}

test("a clean failover that is half seen has the lists polled again, until the change is proven", () => {
  const calls = calledFor(says("a", "MASTER"), says("b", "BACKUP"), says("b", "MASTER"), says("a", "BACKUP"));
  expect(calls).toEqual([NONE, NONE, [LISTS], NONE]);
});

test("what VRRP or a test says out of turn calls for nothing", () => {
  const outOfTurn = [says("b", "MASTER"), says("a", "MASTER"), finds(503)].map((observation) => {
    return { ...observation, isOutOfTurn: true };
  });
  expect(calledFor(says("a", "MASTER"), says("b", "BACKUP"), finds(200), ...outOfTurn).flat()).toEqual([]);
});

test("a split brain is confirmed when it is proven, and then polled as usual", () => {
  const masters = [says("a", "MASTER"), says("b", "MASTER")];
  expect(calledFor(...masters, ...masters, ...masters)).toEqual([
    NONE,
    [LISTS],
    [LISTS],
    [LISTS],
    NONE,
    NONE,
  ]);
});

test("a group without a master is confirmed once", () => {
  const backups = [says("a", "BACKUP"), says("b", "BACKUP")];
  expect(calledFor(...backups, ...backups)).toEqual([NONE, [LISTS], NONE, NONE]);
});

test("an appliance that does not answer is not polled to confirm anything", () => {
  expect(calledFor(says("a", "MASTER"), failed.vrrp("b", "timeout"))).toEqual([NONE, NONE]);
});

test("a website that turns down or unknown is tested again, and only until that is confirmed", () => {
  const failure = failed.website("a", 1, "timeout");
  const calls = calledFor(finds(200), finds(503), finds(503), finds(200), failure, failure);
  expect(calls).toEqual([NONE, [TEST], NONE, NONE, [TEST], NONE]);
});

test("a test that was not sent is not made again out of turn", () => {
  const { durationSeconds: _, ...unsent } = failed.website("a", 1, "appliance_down");
  expect(calledFor(finds(200), { ...unsent, durationSeconds: undefined })).toEqual([NONE, NONE]);
});

const DISCOVERY = { exclude: [], limit: 200 };

test("the details of a discovered website that turns down are polled before it is tested again", () => {
  const take = judgedFleet([{ ...MEMBER_A, discovery: DISCOVERY }, MEMBER_B]);
  for (const observation of [seen.websites("a", [1]), seen.details("a", 1), finds(200)]) take(observation, 0);
  const observation = finds(503);
  const { judged, changes } = take(observation, 0);
  expect(confirmingPolls(judged, observation, changes)).toEqual([
    { ...TEST, operation: { kind: "website_details", websiteId: 1 }, afterMs: 1000 },
    TEST,
  ]);
});

/** What the last one of these observations calls for, after the first polls: website 1 of a is website 5 of b. */
function calledForLast(members: readonly ApplianceConfig[], later: readonly Observation[]) {
  const take = judgedFleet(members.map((member) => ({ ...member, discovery: DISCOVERY })));
  const first = [
    seen.websites("a", [1]),
    seen.details("a", 1),
    ...(members.includes(MEMBER_B) ? [seen.websites("b", [5]), seen.details("b", 5)] : []),
  ];
  const calls = [...first, ...later].map((observation) => {
    const { judged, changes } = take(observation, 0);
    return confirmingPolls(judged, observation, changes);
  });
  expect(calls.slice(0, first.length).flat()).toEqual([]);
  return (calls.at(-1) ?? []).map(
    ({ occasion, operation, appliances, afterMs }) =>
      `${occasion} of ${operationKey(operation)} at ${appliances.join(" and ")} after ${afterMs} ms`,
  );
}

const BOTH = [MEMBER_A, MEMBER_B];
const CHANGED = seen.details("a", 1, { host: "other.example" });
const LONGER = seen.websites("a", [1, 2]);
const LISTS_OF_WEBSITES = ["second_look of website_list at a and b after 60000 ms"];
const DETAILS = [
  "second_look of website_details/1 at a after 60000 ms",
  "second_look of website_details/5 at b after 60000 ms",
];

test.each<readonly [string, readonly ApplianceConfig[], readonly Observation[], readonly string[]]>([
  [
    "other details have those of the others polled soon, and all of them once more later",
    BOTH,
    [CHANGED],
    ["confirming of website_details/5 at b after 1000 ms", ...DETAILS],
  ],
  ["the same details call for nothing", BOTH, [CHANGED, CHANGED], []],
  [
    "other details that are seen out of turn have all polled later",
    BOTH,
    [{ ...CHANGED, isOutOfTurn: true }],
    DETAILS,
  ],
  ["a website more has all lists polled later", BOTH, [LONGER], LISTS_OF_WEBSITES],
  ["a website less has all lists polled later", BOTH, [seen.websites("a", [])], LISTS_OF_WEBSITES],
  [
    "another list after a failed one has all lists polled later",
    BOTH,
    [failed.websites("a", "timeout"), LONGER],
    LISTS_OF_WEBSITES,
  ],
  ["the same list calls for nothing", BOTH, [LONGER, LONGER], []],
  [
    "another list that is seen out of turn has all polled later",
    BOTH,
    [{ ...LONGER, isOutOfTurn: true }],
    LISTS_OF_WEBSITES,
  ],
  [
    "the first details of a new website are polled once more later",
    BOTH,
    [LONGER, seen.details("a", 2, { host: "new.example" })],
    ["second_look of website_details/2 at a after 60000 ms"],
  ],
  ["another list of an appliance that stands alone calls for nothing", [MEMBER_A], [LONGER], []],
  ["other details of an appliance that stands alone call for nothing", [MEMBER_A], [CHANGED], []],
])("%s", (_, members, observations, calls) => {
  expect(calledForLast(members, observations)).toEqual(calls);
});
