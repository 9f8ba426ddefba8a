import { expect, test } from "vitest";
import { instantOf } from "../../../src/exporter/judge/words.ts";
import { picture } from "../../../src/exporter/page/view/strip.ts";
import { axis, legend, pastOf, stripView } from "../../../src/exporter/page/view/timelines.ts";
import { createTimelines } from "../../../src/history/timeline/timelines.ts";
import { NOW_MS } from "./documents.ts";
import { textOf } from "./reading.ts";

/** The timelines of a cluster that is up, from `seconds` before now on; silent in the last three minutes if `isSilent`. */
function viewOf(seconds: number, isSilent = false) {
  const timelines = createTimelines();
  const at = instantOf(NOW_MS - seconds * 1000);
  timelines.read({ at, kind: "run", v: 1, why: "start", version: "1.2.3", shard: "0/1" });
  timelines.read({ at, kind: "cluster", cluster: "ams", state: "up", worst: "up" });
  const group = { kind: "group", cluster: "ams", vhid: 1, vip: "192.0.2.100" } as const;
  timelines.read({ at, ...group, state: "one_master" });
  if (isSilent) timelines.read({ at: instantOf(NOW_MS - 180_000), ...group, state: "unknown" });
  timelines.read({ at: instantOf(NOW_MS), kind: "alive" });
  return { group, view: stripView({ ...timelines, damages: () => ["file.jsonl"] }, "day", NOW_MS) };
}

test("a picture says of how much the figure beside it is known", () => {
  const { group, view } = viewOf(10);
  const { strip, figure } = pastOf([group], view) ?? {};
  expect(/aria-label="([^"]*)"/.exec(strip?.text ?? "")?.[1]).toBe(
    "Last 24 hours: up 100 % of the 10 s known",
  );
  expect(figure).toBe("100 %");
  expect(pastOf([{ ...group, vhid: 7 }], view)).toBeUndefined();
});

test("a figure is the least that is possible where nobody answered for a minute or more", () => {
  const { group, view } = viewOf(3600, true);
  expect(pastOf([group], view)?.figure).toBe("≥ 95.000 %");
});

function hoursAgo(hours: number): string {
  return instantOf(NOW_MS - hours * 3_600_000);
}

test("a website's strip is the worst of its protocols, with the least figure and the words of each", () => {
  const timelines = createTimelines();
  const website = { kind: "website", cluster: "ams", id: 1, name: "blog" } as const;
  const [http, https] = (["http", "https"] as const).map((protocol) => ({ ...website, protocol }));
  if (http === undefined || https === undefined) throw new Error("a website has both");
  timelines.read({ at: hoursAgo(10), kind: "run", v: 1, why: "start", version: "1", shard: "0/1" });
  for (const each of [http, https])
    timelines.read({ at: hoursAgo(10), ...each, address: "blog", state: "up" });
  timelines.read({ at: hoursAgo(5), ...https, address: "blog", state: "down" });
  timelines.read({ at: hoursAgo(4), ...https, address: "blog", state: "up" });
  timelines.read({ at: instantOf(NOW_MS), kind: "alive" });
  const view = stripView({ ...timelines, damages: () => [] }, "day", NOW_MS);
  const { strip, figure } = pastOf([http, https], view) ?? {};
  expect(/aria-label="([^"]*)"/.exec(strip?.text ?? "")?.[1]).toBe(
    "Last 24 hours: http up 100 % of the 10 h 0 min known; https up 90.000 % of the 10 h 0 min known, down once, 1 h 0 min",
  );
  expect(figure).toBe("90.000 %");
  expect(strip?.text).toContain('class="down"');
  expect(pastOf([http], view)?.figure).toBe("100 %");
});

test("the page says once since when the exporter watches, and what it cannot read", () => {
  expect(textOf(legend(viewOf(3600).view))).toBe(
    "up impaired planned down not known watched since 11:00 Unknown since the journal is damaged: file.jsonl.",
  );
  expect(textOf(axis(viewOf(3600).view))).toBe("12:0018:0000:0006:00");
});

test("what is not known is a hairline, and nothing is drawn before the subject was known", () => {
  const bins = ["unknown", "unknown", "up", "unknown", "down"] as const;
  const { text } = picture({ bins, beginMs: 0, binMs: 10, sinceMs: 20 }, "words");
  expect(
    [...text.matchAll(/<path class="(\w+)" d="([^"]*)"/g)].map(([, band, path]) => [band, path]),
  ).toEqual([
    ["up", "M2 7h1v3H2z"],
    ["down", "M4 0h1v10H4z"],
    ["unknown", "M3 9.2h1v0.8H3z"],
  ]);
});
