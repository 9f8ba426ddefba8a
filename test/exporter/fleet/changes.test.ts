import { expect, test } from "vitest";
import type { FleetChange } from "../../../src/exporter/fleet/changes.ts";
import type { Observation } from "../../../src/exporter/polling/observation.ts";
import {
  applianceOf,
  failed,
  failureOf,
  interfaceOf,
  listOf,
  seen,
  websiteOf,
} from "../../support/observations.ts";
import { fleetOf } from "./support.ts";

const WAF = applianceOf({ name: "waf", websites: [websiteOf({ id: 1 })] });
const GOOD = seen.vrrp("waf", listOf([interfaceOf()]));
const VRRP = expect.objectContaining({ kind: "vrrp" });

/** What each of these observations changes, one after the other. */
function changesOf(...observations: readonly Observation[]): readonly (readonly FleetChange[])[] {
  const fleet = fleetOf([WAF]);
  return observations.map((observation) => fleet.record(observation, 0).changes);
}

test("a first success and every further one change nothing", () => {
  expect(changesOf(GOOD, GOOD)).toEqual([[], []]);
});

test("an operation that begins to fail is reported once, and its recovery once", () => {
  const failure = failed.vrrp("waf", "connect");
  expect(changesOf(failure, failure, failure, GOOD, GOOD)).toEqual([
    [{ kind: "failing", operation: VRRP, failure: failureOf("connect") }],
    [],
    [],
    [{ kind: "recovered", operation: VRRP, from: failureOf("connect") }],
    [],
  ]);
});

test("another reason is reported again", () => {
  expect(changesOf(GOOD, failed.vrrp("waf", "connect"), failed.vrrp("waf", "auth"))[2]).toEqual([
    { kind: "failing", operation: VRRP, failure: failureOf("auth") },
  ]);
});

test("each operation fails and recovers on its own", () => {
  const operation = expect.objectContaining({ kind: "website_test", websiteId: 1 });
  expect(changesOf(failed.vrrp("waf", "timeout"), failed.website("waf", 1, "timeout"))[1]).toEqual([
    { kind: "failing", operation, failure: failureOf("timeout") },
  ]);
});

const failing = (id: number) => failed.details("waf", id, "decode");

test("details that the appliance lacks are no change, and others are one for each website, and so are their recoveries", () => {
  const discovery = { exclude: [], limit: 200 };
  const fleet = fleetOf([{ ...WAF, discovery }]);
  const ids = [1, 2];
  const changesOfRound = (observe: (id: number) => Observation) =>
    ids.flatMap((id) => fleet.record(observe(id), 0).changes.map(({ kind }) => kind));
  fleet.record(seen.websites("waf", ids), 0);
  expect(changesOfRound((id) => failed.details("waf", id, "http_status", { isGone: true }))).toEqual([]);
  expect(changesOfRound((id) => seen.details("waf", id))).toEqual([]);
  expect(changesOfRound(failing)).toEqual(["failing", "failing"]);
  expect(changesOfRound(failing)).toEqual([]);
  expect(changesOfRound((id) => seen.details("waf", id))).toEqual(["recovered", "recovered"]);
});
