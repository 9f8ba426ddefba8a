import { expect, test } from "vitest";
import type { ApplianceDocument, ClusterDocument } from "../../src/status/schema.ts";
import { websiteRows } from "../../src/page/view/website-rows.ts";
import { down, pair, PENDING, polled, secondSilent, shopDown, shopDownInPart, up } from "./documents.ts";
import { cellsOf, READER } from "./reading.ts";

const rowsOf = (cluster: ClusterDocument) => websiteRows(cluster, READER).map(cellsOf);

const AMS = pair("ams");

type Website = ApplianceDocument["websites"][number];

/** One website, seen by each appliance in its way; not tested by one for which nothing is given. */
function seenAs(...views: readonly (Partial<Website> | undefined)[]): ClusterDocument {
  const [website] = AMS.websites;
  if (website === undefined) throw new Error("there are two");
  const appliances = views.map((view, index) => ({
    name: `ams-${index + 1}`,
    labels: {},
    poll: polled(),
    websites: view === undefined ? [] : [{ ...website, poll: polled(), ...view }],
  }));
  return { ...AMS, websites: [website], appliances };
}

test("a website has a row for each protocol and the status code in the cell of each appliance", () => {
  expect(rowsOf(AMS)).toEqual([
    ["blog http", "well: 301 up", "well: 301 up"],
    ["blog https", "well: 200 up", "well: 200 up"],
    ["shop http", "well: 301 up", "well: 301 up"],
    ["shop https", "well: 200 up", "well: 200 up"],
  ]);
});

test("down everywhere is a row of critical cells, and says so", () => {
  expect(rowsOf(shopDown(AMS)).at(-1)).toEqual([
    "shop https Down everywhere for 3 min.",
    "critical: 503 down",
    "critical: no response down",
  ]);
});

test("down as seen from one is a single cell, and says from which", () => {
  expect(rowsOf(shopDownInPart(AMS)).at(-1)).toEqual([
    "shop https Down from ams-2 only for 3 min.",
    "well: 200 up",
    "warning: 503 down",
  ]);
});

test("what an appliance that does not answer sees is unknown, and why", () => {
  expect(rowsOf(secondSilent(AMS))[0]).toEqual([
    "blog http Up where it is known.",
    "well: 301 up",
    "unknown: unknown appliance down for 3 min",
  ]);
});

const FAILED: Partial<Website> = { poll: polled({ state: "failed", reason: "http_status" }) };

test.each([
  [
    "not tested by one of them",
    [{ statuses: [up("http", 200)] }, undefined],
    ["blog http", "well: 200 up", "– not tested from here"],
  ],
  [
    "down where it is known",
    [{ statuses: [down("http", 500)] }, FAILED],
    ["blog http Down for 3 min; not known from all.", "critical: 500 down", "unknown: unknown http status"],
  ],
  [
    "down from the only one",
    [{ statuses: [down("http", 500)] }],
    ["blog http Down for 3 min.", "critical: 500 down"],
  ],
  [
    "of a protocol that one answer lacks",
    [{ statuses: [up("http", 200)] }, { statuses: [] }],
    ["blog http Up where it is known.", "well: 200 up", "unknown: unknown not in the answer"],
  ],
  [
    "known to nobody",
    [FAILED, { poll: PENDING }],
    ["blog Not known.", "unknown: unknown http status", "unknown: unknown not tested yet"],
  ],
] satisfies [string, (Partial<Website> | undefined)[], string[]][])(
  "a website that is %s",
  (_case, views, cells) => {
    expect(rowsOf(seenAs(...views))).toEqual([cells]);
  },
);
