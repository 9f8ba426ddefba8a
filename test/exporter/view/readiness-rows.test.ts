import { expect, test } from "vitest";
import type { ApplianceDocument } from "../../../src/exporter/document/schema.ts";
import { readinessRows, successionOf } from "../../../src/exporter/view/readiness-rows.ts";
import { clusterRows } from "../../../src/exporter/view/rows.ts";
import { appliance, failoverTo, pair, secondSilent, shopDownInPart, splitBrain } from "../page/documents.ts";
import { cellsOf } from "../page/reading.ts";

const AMS = pair("ams");
/** Mastership is split over two members, and a third one is in none of the groups of `b`. */
const SPLIT = [
  appliance("a", "MASTER", { failover: failoverTo(["b", "c"], { moreRisks: 10 }) }),
  appliance("b", "MASTER", { failover: failoverTo(["a"], { addresses: 1, websites: 0 }) }),
  appliance("c", "BACKUP"),
];

test.each<readonly [string, readonly ApplianceDocument[], readonly (readonly string[])[]]>([
  ["no failover is judged", [appliance("a", "MASTER")], []],
  [
    "the backup can take over",
    AMS.appliances,
    [
      [
        "If ams-1 fails Ready",
        "well: MASTER 2 addresses 2 websites",
        "backup: takes over 2 addresses 2 websites",
      ],
    ],
  ],
  [
    "a website would be lost",
    shopDownInPart(AMS).appliances,
    [
      [
        "If ams-1 fails Losses for 3 min",
        "warning: MASTER 2 addresses 2 websites 1 website not compared",
        "backup: can take over",
      ],
      ["shop https shop https is lost: 503 at ams-2", "", "warning: Website down seen 3 min ago"],
      [
        "blog blog differs at ams-2 (mode detect at ams-1, mode protect at ams-2)",
        "",
        "well: Website differs seen 3 min ago",
      ],
    ],
  ],
  [
    "nobody would take over",
    secondSilent(AMS).appliances,
    [
      [
        "If ams-1 fails Outage for 3 min",
        "critical: MASTER 2 addresses 2 websites",
        "not known to take over",
      ],
      [
        "192.0.2.100 no appliance takes over 192.0.2.100 (vhid 1): ams-2 cannot be polled since 2026-11-21 11:55 UTC: it cannot be reached (connect)",
        "critical: Backup lost seen 2 s ago",
        "",
      ],
    ],
  ],
  [
    "mastership is split over two members",
    SPLIT,
    [
      [
        "If a fails Ready",
        "well: MASTER 2 addresses 2 websites 10 more risks not shown",
        "backup: can take over",
        "backup: can take over",
      ],
      [
        "If b fails Ready",
        "backup: takes over 1 address",
        "well: MASTER 1 address",
        "not known to take over",
      ],
    ],
  ],
])("rows when %s", (_, appliances, expected) => {
  expect(readinessRows(appliances).map(cellsOf)).toEqual(expected);
});

test("256 rows are shown, and one row counts the others", () => {
  const { failover } = shopDownInPart(AMS).appliances[0] ?? {};
  const risks = failover?.risks.flatMap((risk) => Array.from({ length: 150 }, () => risk)) ?? [];
  const appliances = [appliance("a", "MASTER", { failover: failoverTo(["b"], { risks }) })];
  const rows = clusterRows({ ...AMS, appliances }).find(({ kind }) => kind === "failover")?.rows ?? [];
  expect([rows.length, rows.at(-1)?.title]).toEqual([257, "45 more readiness rows"]);
});

test.each<readonly [string, readonly ApplianceDocument[], ReturnType<typeof successionOf>]>([
  ["nothing where no failover is judged", [appliance("a", "MASTER")], undefined],
  ["who can take over where all are ready", SPLIT, { names: "b, c and a", summary: "" }],
  [
    "who would, and that something is lost",
    [...SPLIT, ...splitBrain(AMS).appliances, ...shopDownInPart(AMS).appliances],
    {
      names: "b, c, a and ams-2, with losses",
      summary: "If ams-1 fails, shop https is lost: 503 at ams-2",
    },
  ],
  [
    "that nobody would",
    secondSilent(AMS).appliances,
    { names: "nobody", summary: expect.stringContaining("no appliance takes over 192.0.2.100") },
  ],
  [
    "that it is not known",
    splitBrain(AMS).appliances,
    { names: "?", summary: expect.stringContaining("it is not known which appliance takes over") },
  ],
])("the line of a cluster says %s", (_, appliances, expected) => {
  expect(successionOf(appliances)).toEqual(expected);
});
