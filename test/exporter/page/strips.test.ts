import { expect, test } from "vitest";
import { clusterStrip, stripTable, stripView } from "../../../src/exporter/page/view/timelines.ts";
import { instantOf } from "../../../src/exporter/judge/words.ts";
import { createTimelines } from "../../../src/history/timeline/timelines.ts";
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
  const timelines = { strip: () => void (made += 1), damages: () => [] };
  stripTable({ ...cluster, groups }, stripView(timelines, "day", NOW_MS));
  // One more says how long the exporter watched.
  expect(made).toBe(257);
});

test("a figure says of how much it is known, in the picture and beside it", () => {
  const cluster = pair("ams");
  const [first] = cluster.groups;
  if (first === undefined) throw new Error("the pair has groups");
  const { vhid, vip } = first;
  const timelines = createTimelines();
  const at = instantOf(NOW_MS - 10_000);
  timelines.read({ at, kind: "run", v: 1, why: "start", version: "1.2.3", shard: "0/1" });
  timelines.read({ at, kind: "cluster", cluster: "ams", state: "up", worst: "up" });
  timelines.read({ at, kind: "group", cluster: "ams", vhid, vip, state: "one_master" });
  timelines.read({ at: instantOf(NOW_MS), kind: "alive" });
  const view = stripView({ ...timelines, damages: () => [] }, "day", NOW_MS);
  const { text } = stripTable(cluster, view);
  const words = "up 100 % of the 10 s known";
  expect(/aria-label="(up [^"]*)"/.exec(text)?.[1]).toBe(words);
  expect(/<span class="words" aria-hidden="true">([^<]*)</.exec(text)?.[1]).toBe(words);
  expect(/<p class="note">([^<]*)</.exec(text)?.[1]).toBe(
    "Last 24 hours, UTC. The exporter did not watch for 23 h 59 min.",
  );
  expect(/aria-label="([^"]*)"/.exec(clusterStrip(cluster, view).text)?.[1]).toBe(`Last 24 hours: ${words}`);
});
