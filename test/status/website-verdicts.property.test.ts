import * as fc from "fast-check";
import { expect, test } from "vitest";
import { gathered } from "../../src/api/website-details.ts";
import { createFleet } from "../../src/fleet/fleet.ts";
import type { Observation } from "../../src/polling/observation.ts";
import { judge } from "../../src/status/judge.ts";
import type { ClusterVerdict, WebsiteVerdict } from "../../src/status/verdict.ts";
import { websiteVerdicts } from "../../src/status/website-verdicts.ts";
import {
  applianceOf,
  blocksOf,
  configOf,
  detailsFailed,
  detailsSeen,
  interfaceOf,
  listOf,
  vrrpFailed,
  vrrpSeen,
  websiteFailed,
  websiteOf,
  websiteSeen,
  websitesFailed,
  websitesSeen,
} from "../support/observations.ts";

const VIPS = ["192.0.2.101", "192.0.2.102"];
const members = fc.constantFrom("a", "b", "c");
const ids = fc.integer({ min: 1, max: 5 });

/** Ids that mean other websites elsewhere, websites that listen on one VIP, and other servers now and then. */
const details = fc.record({
  name: fc.constantFrom("", "shop", "blog"),
  host: fc.constantFrom("", "shop.example", "blog.example", "wiki.example"),
  port: fc.constantFrom(443, undefined),
  isEnabled: fc.constantFrom(true, true, false),
  mode: fc.constantFrom("protect", "pass"),
  bind: fc.constantFrom(["*"], [...VIPS], ["192.0.2.101"], ["192.0.2.55"], []),
  backends: fc
    .array(
      fc.record({
        address: fc.constantFrom("192.0.2.81:80", "192.0.2.82:80"),
        role: fc.constantFrom("active", "down"),
        isOk: fc.boolean(),
      } as const),
      { maxLength: 2 },
    )
    .map(gathered),
} as const);

const poll: fc.Arbitrary<Observation> = fc.oneof(
  fc
    .tuple(members, fc.constantFrom("MASTER", "BACKUP", "INIT"), fc.constantFrom("MASTER", "BACKUP"))
    .map(([name, ...states]) => {
      const interfaces = states.map((state, nth) =>
        interfaceOf({ name: VIPS[nth] ?? "", vhid: nth, vip: VIPS[nth] ?? "", state }),
      );
      return vrrpSeen(name, listOf(interfaces));
    }),
  members.map((name) => vrrpFailed(name, "timeout")),
  fc.tuple(members, fc.uniqueArray(ids)).map(([name, all]) => websitesSeen(name, all)),
  members.map((name) => websitesFailed(name, "decode")),
  fc.tuple(members, ids, details).map(([name, id, seen]) => detailsSeen(name, id, seen)),
  fc.tuple(members, ids).map(([name, id]) => detailsFailed(name, id, "http_status", { isGone: true })),
  fc.tuple(members, ids).map(([name, id]) => detailsFailed(name, id, "timeout")),
  fc
    .tuple(members, ids, fc.constantFrom(200, 503))
    .map(([name, id, status]) => websiteSeen(name, id, blocksOf(status, 200))),
  fc.tuple(members, ids).map(([name, id]) => websiteFailed(name, id, "timeout")),
);

/** A configuration that reloads alternate between; a name in capitals is disabled. */
function configFor(names: readonly string[], labels: Readonly<Record<string, string>> = {}) {
  const appliances = names.map((name) =>
    applianceOf({
      name: name.toLowerCase(),
      cluster: "ams",
      labels,
      enabled: name === name.toLowerCase(),
      websites: name === "b" ? [websiteOf({ id: 3 })] : [],
      ...(name === "d" ? {} : { discovery: { exclude: [], limit: 200 } }),
    }),
  );
  return configOf(...appliances);
}

const CONFIGS = [
  configFor(["a", "b"]),
  configFor(["a", "b", "c"]),
  configFor(["b", "a"]),
  configFor(["a", "b", "d"]),
  configFor(["a", "b", "C"]),
  configFor(["a", "b"], { site: "ams" }),
  configFor(["a"]),
];

/** Everything is known, so that what follows changes single facts. */
const BEGINNING: readonly Observation[] = ["a", "b", "c", "d"].flatMap((name) => [
  vrrpSeen(
    name,
    listOf(
      VIPS.map((vip, vhid) =>
        interfaceOf({ name: vip, vhid, vip, state: name === "a" ? "MASTER" : "BACKUP" }),
      ),
    ),
  ),
  websitesSeen(name, [1, 2, 3]),
  ...[1, 2, 3].flatMap((id) => [
    detailsSeen(name, id, { name: `${id}`, host: `${id}.example`, bind: VIPS.slice(id - 1) }),
    ...(id === 3 ? [] : [websiteSeen(name, id, blocksOf(200, 200))]),
  ]),
]);

/** Without what only the past can tell. */
function present({ states, ...website }: WebsiteVerdict): unknown {
  return { ...website, states: states.map(({ protocol, state }) => ({ protocol, state })) };
}

test("verdicts that are kept from poll to poll, over reloads too, are those of all facts judged afresh", () => {
  const reload = fc.nat(CONFIGS.length - 1);
  const step = fc.oneof({ weight: 6, arbitrary: poll }, { weight: 1, arbitrary: reload });
  fc.assert(
    fc.property(
      fc.nat(BEGINNING.length),
      fc.array(step, { minLength: 5, maxLength: 40 }),
      (skipped, random) => {
        const steps = [...BEGINNING.slice(skipped), ...random];
        const fleet = createFleet();
        fleet.configure(CONFIGS[0] ?? configOf(), 0);
        let before: ClusterVerdict | undefined;
        for (const [atMs, each] of steps.entries()) {
          if (typeof each === "number") fleet.configure(CONFIGS[each] ?? configOf(), atMs);
          else fleet.record(each, atMs);
          const facts = fleet.cluster("ams", atMs);
          if (facts === undefined) throw new Error("the cluster is configured");
          const at = { wallMs: atMs, monotonicMs: atMs };
          const now = judge(facts, before, at);
          const { groups } = now;
          const afresh = websiteVerdicts({ facts, groups, before: undefined, wasPolled: true, at });
          expect([...now.websites.values()].map(present)).toEqual([...afresh.websites.values()].map(present));
          expect(now.differences).toEqual(afresh.differences);
          before = now;
        }
      },
    ),
    { numRuns: 600 },
  );
});

test("a test that finds something new replaces the verdict on its website alone", () => {
  const websites = [1, 2, 3].map((id) => websiteOf({ id }));
  const fleet = createFleet();
  fleet.configure(configOf(applianceOf({ name: "a", cluster: "ams", websites })), 0);
  const verdictAfter = (observation: Observation, before?: ClusterVerdict): ClusterVerdict => {
    fleet.record(observation, 0);
    const facts = fleet.cluster("ams", 0);
    if (facts === undefined) throw new Error("the cluster is configured");
    return judge(facts, before, { wallMs: 0, monotonicMs: 0 });
  };
  let before = verdictAfter(vrrpSeen("a", listOf([interfaceOf()])));
  for (const id of [1, 2, 3]) before = verdictAfter(websiteSeen("a", id, blocksOf(200, 200)), before);
  const same = verdictAfter(websiteSeen("a", 2, blocksOf(200, 200)), before);
  expect(same.websites).toBe(before.websites);
  verdictAfter(websiteSeen("a", 2, blocksOf(503, 200)), before);
  const now = verdictAfter(websiteSeen("a", 2, blocksOf(503, 200)), before);
  const changed = [...now.websites].filter(([key, website]) => before.websites.get(key) !== website);
  expect(changed.map(([key]) => key)).toEqual(["#2"]);
});
