import { expect, test } from "vitest";
import type { ApplianceDocument, ClusterDocument } from "../../../src/exporter/document/schema.ts";
import { websiteRows } from "../../../src/exporter/view/rows.ts";
import {
  ago,
  down,
  pair,
  PENDING,
  polled,
  secondSilent,
  shopDown,
  shopDownInPart,
  up,
} from "../page/documents.ts";
import { cellsOf } from "../page/reading.ts";

const rowsOf = (cluster: ClusterDocument) => websiteRows(cluster).map(cellsOf);

const AMS = pair("ams");

type Test = ApplianceDocument["websites"][number];
type States = ClusterDocument["websites"][number]["states"];

/** One website in these states, tested by each appliance with these results; not by one for which nothing is given. */
function testedAs(states: States, ...seen: readonly (Partial<Test> | undefined)[]): ClusterDocument {
  const blog = { id: 1, name: "blog" };
  const appliances = seen.map((result, index) => ({
    name: `ams-${index + 1}`,
    labels: {},
    level: "well" as const,
    poll: polled(),
    websites: result === undefined ? [] : [{ ...blog, poll: polled(), ...result }],
  }));
  return { ...AMS, websites: [{ ...blog, states }], appliances };
}

test("a website has a row with its state, and the status code of each protocol from each appliance", () => {
  expect(rowsOf(AMS)).toEqual([
    ["blog http + https Up", "well: 301 + 200", "well: 301 + 200"],
    ["shop http + https Up", "well: 301 + 200", "well: 301 + 200"],
  ]);
});

function both(http: number, https: number): Partial<Test> {
  return { statuses: [down("http", http), down("https", https)] };
}

function statesOf(sinceHttps: string, https: "down" | "up" = "down"): States {
  return [
    { protocol: "http", state: "down", level: "critical", since: ago(190) },
    { protocol: "https", state: https, level: https === "up" ? "well" : "critical", since: sinceHttps },
  ];
}

test("what is the same of both protocols is said once, and what differs by the name of each", () => {
  const rows = [
    testedAs(statesOf(ago(190)), both(503, 503)),
    testedAs(statesOf(ago(70)), both(503, 500)),
    testedAs(statesOf(ago(70), "up"), { statuses: [down("http", 503), up("https", 200)] }),
  ].flatMap(rowsOf);
  expect(rows).toEqual([
    ["blog http + https Down for 3 min", "critical: 503 down"],
    [
      "blog http + https http down for 3 min and https down for 1 min",
      "critical: 503 + 500 http down https down",
    ],
    ["blog http + https http down for 3 min", "critical: 503 + 200 http down"],
  ]);
  expect(websiteRows(testedAs(statesOf(ago(70), "up")))).toMatchObject([
    { level: "critical", subjects: [{ protocol: "http" }, { protocol: "https" }] },
  ]);
});

test("a website that is down shows for how long, and the reason of each appliance", () => {
  expect(rowsOf(shopDown(AMS)).at(-1)).toEqual([
    "shop http + https https down for 3 min",
    "critical: 301 + 503 https down",
    "critical: 301 + no response https connection refused",
  ]);
});

test("a website without a verdict shows what was found", () => {
  const statuses = [up("https", 200)];
  const cluster = testedAs([], undefined, { statuses });
  expect(rowsOf(cluster)).toEqual([["blog https Not known", "not tested from here", "well: 200"]]);
  expect(websiteRows(cluster)).toMatchObject([{ level: "unknown" }]);
});

test("a website that is partially down has one cell with a warning", () => {
  expect(rowsOf(shopDownInPart(AMS)).at(-1)).toEqual([
    "shop http + https https partially down for 3 min",
    "well: 301 + 200",
    "warning: 301 + 503 https down",
  ]);
});

test("the test of an appliance that does not answer is unknown, with the reason", () => {
  expect(rowsOf(secondSilent(AMS))[0]).toEqual([
    "blog http + https Up",
    "well: 301 + 200",
    "unknown: unknown appliance down for 3 min",
  ]);
});

const UNREADABLE = { protocol: "http", text: 'unreadable status line "HTTP/1.1 2000"' } as const;
const FAILED: Partial<Test> = { poll: polled({ state: "failed", reason: "http_status" }) };

test.each([
  [
    "not tested by one of them",
    testedAs([{ protocol: "http", state: "up", level: "well" }], { statuses: [up("http", 200)] }, undefined),
    ["blog http Up", "well: 200", "not tested from here"],
  ],
  [
    "down where it is known",
    testedAs(
      [{ protocol: "http", state: "down", level: "critical", since: ago(190) }],
      { statuses: [down("http", 500)] },
      FAILED,
    ),
    ["blog http Down for 3 min", "critical: 500 down", "unknown: unknown http status"],
  ],
  [
    "missing in one answer",
    testedAs(
      [{ protocol: "http", state: "up", level: "well" }],
      { statuses: [up("http", 200)] },
      { statuses: [] },
    ),
    ["blog http Up", "well: 200", "unknown: unknown not in the answer"],
  ],
  [
    "unreadable in one answer",
    testedAs(
      [{ protocol: "http", state: "up", level: "well" }],
      { statuses: [up("http", 200)] },
      { statuses: [], uncertain: [UNREADABLE, { protocol: "https", text: "of the other protocol" }] },
    ),
    ["blog http Up", "well: 200", `unknown: unknown ${UNREADABLE.text}`],
  ],
  [
    "unreadable in all answers",
    testedAs([{ state: "unknown", level: "critical" }], { statuses: [], uncertain: [UNREADABLE] }),
    ["blog Unknown", `unknown: unknown ${UNREADABLE.text}`],
  ],
  [
    "unreadable and without a verdict",
    testedAs([], { statuses: [], uncertain: [UNREADABLE] }),
    ["blog http Not known", `unknown: unknown ${UNREADABLE.text}`],
  ],
  [
    "of an unknown protocol",
    testedAs([{ state: "unknown", level: "critical" }], FAILED),
    ["blog Unknown", "unknown: unknown http status"],
  ],
  ["not tested yet", testedAs([], { poll: PENDING }), ["blog Not known", "unknown: unknown not tested yet"]],
] satisfies [string, ClusterDocument, string[]][])("a website that is %s", (_case, cluster, cells) => {
  expect(rowsOf(cluster)).toEqual([cells]);
});

test("256 websites have rows of their own, and one row counts the others", () => {
  const [website] = AMS.websites;
  if (website === undefined) throw new Error("the pair has websites");
  const websites = Array.from({ length: 260 }, (_, nth) => ({ ...website, id: nth, name: `shop-${nth}` }));
  const rows = rowsOf({ ...AMS, websites });
  expect(rows).toHaveLength(256 + 1);
  expect(rows.at(-1)).toEqual([
    "4 more websites The JSON of the status page has them all.",
    "not shown",
    "not shown",
  ]);
});
