import { expect, test } from "vitest";
import { stripTable, stripView } from "../../src/page/view/timelines.ts";
import { NOW_MS, pair } from "./documents.ts";

test("of a cluster with thousands of groups 256 strips are made, and the others counted", () => {
  const cluster = pair("ams");
  const [first] = cluster.groups;
  const groups = Array.from({ length: 2000 }, (_, vhid) => ({
    ...first,
    vhid,
    vip: "192.0.2.1",
    level: "well" as const,
    members: [],
  }));
  let made = 0;
  const timelines = { strip: () => void (made += 1) };
  stripTable({ ...cluster, groups }, stripView(timelines, "day", NOW_MS));
  // One more says how long the exporter watched.
  expect(made).toBe(257);
});
