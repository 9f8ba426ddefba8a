import * as fc from "fast-check";
import { expect, test } from "vitest";
import { gathered } from "../../../src/exporter/api/website-details.ts";
import type { Observation } from "../../../src/exporter/polling/observation.ts";
import { LEVELS } from "../../../src/exporter/judge/states.ts";
import type { Sign } from "../../../src/exporter/view/row.ts";
import { readinessRows } from "../../../src/exporter/view/readiness-rows.ts";
import { clusterRows } from "../../../src/exporter/view/rows.ts";
import { fleetOf } from "../fleet/support.ts";
import { cellsOf } from "../page/reading.ts";
import { createJudge, documentOf } from "../judge/support.ts";
import {
  applianceOf,
  blocksOf,
  failed,
  interfaceOf,
  listOf,
  seen,
  websiteOf,
} from "../../support/observations.ts";

const DISCOVERY = { discovery: { exclude: [], limit: 200 } };
const PAIR_A = applianceOf({ name: "a", cluster: "ams", ...DISCOVERY });
const PAIR_B = applianceOf({ name: "b", cluster: "ams", ...DISCOVERY });
const C = applianceOf({ name: "c", cluster: "ams", enabled: false });
const LONE = applianceOf({ name: "lone", websites: [websiteOf({ id: 1 })] });

const BACKUP = interfaceOf({ state: "BACKUP", priority: 100, configuredRole: "backup" });

const members = fc.constantFrom("a", "b", "lone");
const reasons = fc.constantFrom("timeout", "auth", "decode", "secret", "unsupported");
const states = fc.constantFrom("MASTER", "BACKUP", "BACKUP", "INIT");
const servers = fc
  .array(
    fc.record({
      address: fc.constantFrom("192.0.2.81:80", "192.0.2.82:80"),
      role: fc.constantFrom("active", "backup", "down", undefined),
      isOk: fc.constantFrom(true, false, undefined),
    }),
    { maxLength: 2 },
  )
  .map(gathered);
const details = fc.record({
  host: fc.constant("shop.example"),
  isEnabled: fc.constantFrom(true, false),
  mode: fc.constantFrom("protect", "pass"),
  backends: servers,
} as const);
const poll: fc.Arbitrary<Observation> = fc.oneof(
  fc.tuple(members, states).map(([name, state]) => seen.vrrp(name, listOf([interfaceOf({ state })]))),
  fc.tuple(members, reasons).map(([name, reason]) => failed.vrrp(name, reason)),
  members.map((name) => seen.websites(name, [1])),
  fc.tuple(members, reasons).map(([name, reason]) => failed.websites(name, reason)),
  fc.tuple(members, details).map(([name, more]) => seen.details(name, 1, more)),
  fc
    .tuple(members, fc.constantFrom(200, 503))
    .map(([name, status]) => seen.website(name, 1, blocksOf(status, status))),
  members.map((name) => failed.website(name, 1, "timeout")),
);

/** Of a BACKUP, and of what is planned, as of what is well. */
const rank = (sign: Sign): number =>
  Math.max(
    0,
    LEVELS.findIndex((level) => level === sign),
  );

/** Problems of an appliance that cells of its column show. */
const SHOWN = new Set([
  "appliance_down",
  "appliance_refused",
  "polling_stuck",
  "odd_state",
  "not_serving",
  "websites_not_listed",
  "failover_not_ready",
]);

test("no cell is worse than what was judged, and what is wrong with an appliance shows in its column", () => {
  const fleets = fc.tuple(fc.boolean(), fc.array(poll, { minLength: 1, maxLength: 25 }));
  fc.assert(
    fc.property(fleets, ([hasDisabled, polls]) => {
      const [fleet, judge] = [fleetOf([PAIR_A, PAIR_B, LONE, ...(hasDisabled ? [C] : [])]), createJudge()];
      for (const [nth, observation] of polls.entries()) {
        fleet.record(observation, nth * 10);
        documentOf(fleet, {}, nth * 10, judge);
      }
      const { clusters, problems } = documentOf(fleet, {}, polls.length * 10, judge);
      for (const cluster of clusters) {
        const own = problems.filter((problem) => problem.cluster === cluster.name);
        const worstOf = (name: string) =>
          Math.max(
            0,
            ...own.flatMap(({ appliance, severity }) => (appliance === name ? rank(severity) : [])),
          );
        const rows = clusterRows(cluster).flatMap((group) => group.rows);
        const signs = cluster.appliances.map(({ name }, column) => {
          const cells = rows.flatMap(({ level, cells: all }) => {
            const sign = all[column]?.sign;
            return sign === undefined ? [] : [{ level, sign }];
          });
          const isDark = cluster.state === "dark";
          const wrong = cells.filter(({ level, sign }) => {
            return rank(sign) > Math.max(1, rank(level), isDark ? rank("warning") : worstOf(name));
          });
          return { name, wrong, worst: Math.max(...cells.map(({ sign }) => rank(sign))) };
        });
        expect(signs.flatMap(({ wrong }) => wrong)).toEqual([]);
        expect(
          Math.max(...rows.map(({ level }) => rank(level)), ...signs.map(({ worst }) => worst)),
        ).toBeLessThanOrEqual(Math.max(1, rank(cluster.level)));
        const unseen = own.filter(({ appliance, kind, severity }) => {
          const column = signs.find(({ name }) => name === appliance);
          return SHOWN.has(kind) && column !== undefined && column.worst < rank(severity);
        });
        expect(unseen).toEqual([]);
      }
    }),
  );
});

test.each([
  ["a master of a split brain", "MASTER", "critical"],
  ["a member in another state", "INIT", "warning"],
] as const)("%s has the level that is judged", (_, state, level) => {
  const polls = ["a", "b"].map((name) => seen.vrrp(name, listOf([interfaceOf({ state })])));
  const fleet = fleetOf([PAIR_A, PAIR_B], polls);
  for (const each of polls) fleet.record(each, 1000);
  const [rows] = documentOf(fleet, {}, 1000).clusters.flatMap(clusterRows);
  expect(rows?.rows).toMatchObject([{ level: "critical", cells: [{ sign: level }, { sign: level }] }]);
});

test.each([
  ["an outage", [interfaceOf()], [], "outage", "critical", 0],
  ["a loss", [interfaceOf({ aliases: ["192.0.2.7"] })], [BACKUP], "loss", "warning", 1],
  ["uncertain", [interfaceOf()], [{ ...BACKUP, aliases: undefined }], "uncertain", "unknown", 1],
  ["none", [interfaceOf()], [{ ...BACKUP, priority: 204 }], "none", "well", 1],
] as const)(
  "a risk whose effect is %s has the level that is judged",
  (_, ofA, ofB, effect, level, column) => {
    const polls = [seen.vrrp("a", listOf(ofA)), seen.vrrp("b", listOf(ofB))];
    const pair = [PAIR_A, PAIR_B].map((each) => ({ ...each, discovery: undefined }));
    const [cluster] = documentOf(fleetOf(pair, polls)).clusters;
    expect(cluster?.appliances[0]?.failover).toMatchObject({ level, risks: [{ effect, level }] });
    const rows = readinessRows(cluster?.appliances ?? []);
    expect(rows.map((row) => [row.level, row.cells[row === rows[0] ? 0 : column]?.sign])).toEqual([
      [level, level],
      [level, level],
    ]);
  },
);

const USABLE = { address: "192.0.2.81:80", role: "active", isOk: true } as const;

test.each([
  ["a server that fails", { role: "active", isOk: false }, true, "warning"],
  ["a server that is out of service", { role: "down", isOk: false }, true, "well"],
  ["a failing server of unknown role", { role: undefined, isOk: false }, true, "well"],
  ["a failing server of a disabled website", { role: "active", isOk: false }, false, "well"],
] as const)(
  "%s, beside one that fails at the other member, has the level that is judged",
  (_, server, isEnabled, level) => {
    const backends = gathered([USABLE, { address: "192.0.2.82:80", ...server }]);
    const failing = gathered([USABLE, { address: "192.0.2.82:80", role: "active", isOk: false }]);
    const polls = [
      ...["a", "b"].flatMap((name) => [seen.vrrp(name, listOf([interfaceOf()])), seen.websites(name, [1])]),
      seen.details("a", 1, { host: "shop.example", isEnabled, backends }),
      seen.details("b", 1, { host: "shop.example", isEnabled: true, backends: failing }),
    ];
    const [cluster] = documentOf(fleetOf([PAIR_A, PAIR_B], polls)).clusters;
    expect(cluster?.discovered?.websites).toMatchObject([
      { state: "some_down", at: { a: { level }, b: { level: "warning" } } },
    ]);
  },
);

test.each([
  ["succeeds", seen.websites("a", []), "well: good"],
  ["fails", failed.websites("a", "decode"), "warning: decode"],
  ["was not polled yet", seen.vrrp("a", listOf([interfaceOf()])), "unknown: not polled yet"],
  ["is one that older firmware lacks", failed.websites("a", "unsupported"), "unknown: unsupported"],
] as const)("a list of websites that %s has the level that is judged", (_, latest, cell) => {
  const alone = applianceOf({ name: "a", ...DISCOVERY });
  const document = documentOf(fleetOf([alone], [seen.vrrp("a", listOf([interfaceOf()])), latest]));
  const rows = document.clusters.flatMap(clusterRows).flatMap((group) => group.rows.map(cellsOf));
  expect(rows.find(([title]) => title === "List of websites")?.[1]).toContain(cell);
});
