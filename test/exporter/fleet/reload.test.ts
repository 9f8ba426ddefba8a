import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { WebsiteConfig } from "../../../src/exporter/config/config.ts";
import {
  applianceOf,
  blocksOf,
  configOf,
  failed,
  interfaceOf,
  listOf,
  seen,
  websiteOf,
} from "../../support/observations.ts";
import { clustersOf, appliancesOf, fleetOf, MEMBER_A, MEMBER_B } from "./support.ts";

const SHOP = websiteOf({ id: 1, name: "shop" });
const BLOG = websiteOf({ id: 2, name: "blog" });
const WAF = applianceOf({ name: "waf", labels: { site: "ams" }, websites: [SHOP, BLOG] });
const MASTER = seen.vrrp("waf", listOf([interfaceOf()]));
const BACKUP = seen.vrrp("waf", listOf([interfaceOf({ state: "BACKUP" })]));
const SHOP_OK = seen.website("waf", 1, [{ protocol: "http", status: 200 }]);
const SHOP_BROKEN = seen.website("waf", 1, [{ protocol: "http", status: 503 }]);
const HISTORY = [MASTER, BACKUP, SHOP_OK, SHOP_BROKEN];

test("another timeout, credential or place in the file leaves what is known as it is", () => {
  const fleet = fleetOf([WAF], HISTORY);
  const [before] = appliancesOf(fleet);
  const polling = {
    ...WAF.polling,
    vrrp: { kind: "interval", intervalMs: 10_000, timeoutMs: 1_000 } as const,
  };
  fleet.configure(
    configOf(applianceOf({ name: "new" }), {
      ...WAF,
      polling,
      http: { ...WAF.http, tls: { ...WAF.http.tls, serverName: "other" } },
    }),
    0,
  );
  const after = appliancesOf(fleet)[1];
  expect(after?.identity).toEqual(before?.identity);
  expect(after?.vrrp).toEqual(before?.vrrp);
  expect(after?.websites).toEqual(before?.websites);
  expect(after?.totals).toEqual(before?.totals);
});

test("a website that is gone is forgotten, its counter too, and the others stay", () => {
  const fleet = fleetOf([WAF], [...HISTORY, seen.website("waf", 2, [{ protocol: "http", status: 200 }])]);
  fleet.configure(configOf({ ...WAF, websites: [BLOG] }), 0);
  expect(fleet.operations("waf")).toEqual([{ kind: "vrrp" }, { kind: "website_test", websiteId: 2 }]);
  fleet.configure(configOf(WAF), 0);
  const [shop, blog] = appliancesOf(fleet)[0]?.websites ?? [];
  expect(shop).toMatchObject({ website: "shop", health: { state: "pending" }, found: undefined });
  expect(blog).toMatchObject({ website: "blog", found: { statuses: [{ status: 200, changes: 0 }] } });
});

test("changed labels, website names, expectations and clusters take effect at once and cost no counter", () => {
  const fleet = fleetOf([WAF], HISTORY);
  const store = { ...SHOP, name: "store", expectStatus: [{ from: 503, to: 503 }] };
  fleet.configure(configOf({ ...WAF, cluster: "fra", labels: { site: "fra" }, websites: [store] }), 0);
  const [waf] = appliancesOf(fleet);
  expect(waf?.identity).toEqual({ appliance: "waf", cluster: "fra", labels: { site: "fra" } });
  expect(waf?.vrrp.identity).toEqual(waf?.identity);
  expect(waf?.vrrp.found?.list.interfaces[0]?.transitions).toBe(1);
  expect(waf?.websites[0]).toMatchObject({
    website: "store",
    found: { statuses: [{ status: 503, isUp: true, changes: 1 }] },
  });
  expect(waf?.websites[0]?.identity).toEqual(waf?.identity);
});

test("an appliance that was never polled counts as stalled two intervals and a timeout after the second in which first polls are spread", () => {
  const fleet = fleetOf([WAF]);
  expect(appliancesOf(fleet)[0]?.vrrp.health.state).toBe("pending");
  fleet.configure(configOf({ ...WAF, labels: {} }), 10_000);
  expect(appliancesOf(fleet, 14_999)[0]?.vrrp.health.state).toBe("pending");
  expect(appliancesOf(fleet, 15_000)[0]?.vrrp.health.failure?.reason).toBe("stalled");
});

test("the websites of an appliance have the patience of their own interval, after the first poll of the list", () => {
  const fleet = fleetOf([WAF]);
  const states = [85_999, 86_000].map((nowMs) => appliancesOf(fleet, nowMs)[0]?.websites[0]?.health.state);
  expect(states).toEqual(["pending", "failed"]);
});

test("what has not changed is the same object, and what has changed is a new one", () => {
  const other = applianceOf({ name: "other" });
  const fleet = fleetOf([MEMBER_A, MEMBER_B, WAF, other], HISTORY);
  const [ams, waf, last] = clustersOf(fleet, 0);
  expect(clustersOf(fleet, 1)).toEqual([ams, waf, last]);
  const { cluster } = fleet.record(SHOP_OK, 1);
  const after = clustersOf(fleet, 1);
  expect(after[0]).toBe(ams);
  expect(after[1]).toBe(cluster);
  expect(after[1]).not.toBe(waf);
  expect(after[2]).toBe(last);
  const [before, now] = [waf?.appliances[0], cluster?.appliances[0]];
  expect(now?.vrrp).toBe(before?.vrrp);
  expect(now?.websites[0]).not.toBe(before?.websites[0]);
  expect(now?.websites[1]).toBe(before?.websites[1]);
});

test("a discovered website that is never tested is stalled in time, however rarely everything else is polled", () => {
  const rarely = { kind: "interval", intervalMs: 86_400_000, timeoutMs: 4_000 } as const;
  const polling = {
    vrrp: rarely,
    discovery: rarely,
    websites: { kind: "interval", intervalMs: 1_000, timeoutMs: 1_000 },
    maxConcurrentWebsiteTests: 4,
  } as const;
  const a = applianceOf({ name: "a", polling, discovery: { exclude: [], limit: 200 } });
  const later = { expiresAtMs: 200_000_000 };
  const fleet = fleetOf(
    [a],
    [seen.vrrp("a", listOf([]), later), seen.websites("a", [1], later), seen.details("a", 1, {}, later)],
  );
  const healthAt = (nowMs: number) => appliancesOf(fleet, nowMs)[0]?.websites[0]?.health;
  expect(healthAt(8_999)?.state).toBe("pending");
  expect(healthAt(9_000)?.failure?.reason).toBe("stalled");
});

test("what a poll finds again is the same object, though how the poll went is not", () => {
  const fleet = fleetOf([WAF]);
  const now = () => {
    fleet.record(structuredClone(MASTER), 1);
    fleet.record(structuredClone(SHOP_OK), 1);
    const [waf] = appliancesOf(fleet);
    return { vrrp: waf?.vrrp, test: waf?.websites[0] };
  };
  const [before, after] = [now(), now()];
  expect(before.vrrp?.found?.list).toBeDefined();
  expect(after.vrrp?.found?.list).toBe(before.vrrp?.found?.list);
  expect(after.test?.found).toBe(before.test?.found);
  expect(after.vrrp).not.toBe(before.vrrp);
  expect(after.test).not.toBe(before.test);
});

/** A website that is tested with these statuses, one after the other; 0 if the test fails. */
function testedWith(statuses: readonly number[]) {
  return fleetOf(
    [WAF],
    statuses.map((status, nth) =>
      status === 0
        ? failed.website("waf", 1, "timeout")
        : seen.website("waf", 1, [{ protocol: "http", status }], { sentAtMs: nth }),
    ),
  );
}

const UNSTABLE = [200, 503, 200, 503, 200, 503, 200];

test.each<readonly [statuses: readonly number[], from: number, to: number, before: string, after: string]>([
  [[200], 200, 299, "up, up", "up, up"],
  [[302], 200, 299, "up, up", "down, down, never up"],
  [[503, 503], 200, 599, "down, down, never up", "up, up, never up"],
  [[200, 503], 200, 599, "up, down", "up, up, never up"],
  [[200, 503], 200, 299, "up, down", "down, down, never up"],
  [[200, 503], 404, 404, "up, down", "down, down, never up"],
  [[200, 0], 404, 404, "up, unknown", "down, unknown, never up"],
  [[200, 0, 0], 404, 404, "unknown, unknown", "unknown, unknown, never up"],
  [[200, 0], 200, 299, "up, unknown", "up, unknown"],
  [[503, 503, 0], 404, 404, "down, unknown, never up", "down, unknown, never up"],
  [[200, 0, 0, 503], 404, 404, "unknown, down", "down, down, never up"],
  [[503, 503, 0], 503, 503, "down, unknown, never up", "up, unknown, never up"],
  [[200, 0, 0, 503], 503, 503, "unknown, down", "up, up, never up"],
  [[0], 503, 503, "", ""],
  [[], 503, 503, "not tested", "not tested"],
  [UNSTABLE, 200, 399, "up, up, unstable", "up, up, unstable"],
  [UNSTABLE, 200, 599, "up, up, unstable", "up, up"],
  [UNSTABLE, 503, 503, "up, up, unstable", "down, down, never up"],
])(
  "the results of tests with %j, when %i to %i become the expected statuses",
  (statuses, from, to, before, after) => {
    const fleet = testedWith(statuses);
    const inWords = () => {
      const { results, lastUp } = appliancesOf(fleet)[0]?.websites[0] ?? {};
      const [first] = results ?? [];
      if (results === undefined) return "not tested";
      if (first === undefined) return "";
      const { result, latest, isUnstable, refutations } = first;
      expect(refutations > 0).toBe(isUnstable);
      return [result, latest, isUnstable && "unstable", lastUp?.length === 0 && "never up"]
        .filter(Boolean)
        .join(", ");
    };
    expect(inWords()).toBe(before);
    fleet.configure(configOf({ ...WAF, websites: [{ ...SHOP, expectStatus: [{ from, to }] }] }), 0);
    expect(inWords()).toBe(after);
  },
);

test("a protocol without a status in the latest answer keeps its result under another expectation", () => {
  const fleet = fleetOf(
    [WAF],
    [
      seen.website("waf", 1, blocksOf(200, 200), { sentAtMs: 0 }),
      seen.website("waf", 1, [{ protocol: "http", status: 200 }], { sentAtMs: 1 }),
    ],
  );
  fleet.configure(configOf({ ...WAF, websites: [{ ...SHOP, expectStatus: [{ from: 404, to: 404 }] }] }), 0);
  const results = appliancesOf(fleet)[0]?.websites[0]?.results ?? [];
  expect(results.map(({ protocol, result, latest }) => [protocol, result, latest])).toEqual([
    ["http", "down", "down"],
    ["https", "up", "unknown"],
  ]);
});

test("protocols that are no longer tested have no results, and a website without any was not tested yet", () => {
  const both = fleetOf([WAF], [seen.website("waf", 1, blocksOf(200, 503), { sentAtMs: 0 })]);
  const resultsWith = (protocols: WebsiteConfig["protocols"]) => {
    both.configure(configOf({ ...WAF, websites: [{ ...SHOP, protocols }] }), 0);
    const { results, lastUp, found } = appliancesOf(both)[0]?.websites[0] ?? {};
    const statuses = found?.statuses.map(({ protocol, isUp }) => `${protocol} ${isUp ? "up" : "down"}`);
    expect(results?.map(({ protocol, result }) => `${protocol} ${result}`) ?? []).toEqual(statuses);
    return [results?.length, lastUp?.length];
  };
  expect(resultsWith(undefined)).toEqual([2, 1]);
  expect(resultsWith(["http", "https"])).toEqual([2, 1]);
  expect(resultsWith(["https"])).toEqual([1, 0]);
  expect(resultsWith(["http"])).toEqual([undefined, 0]);
});

test("after any tests and another expectation, a website that is known to be up or down has that result", () => {
  const statuses = fc.array(fc.constantFrom(0, 200, 302, 404, 503), { minLength: 1, maxLength: 12 });
  const expected = fc.constantFrom(200, 302, 404, 503);
  fc.assert(
    fc.property(statuses, expected, (tests, status) => {
      const fleet = testedWith(tests);
      const expectStatus = [{ from: status, to: status }];
      fleet.configure(configOf({ ...WAF, websites: [{ ...SHOP, expectStatus }] }), 0);
      const { found, results } = appliancesOf(fleet)[0]?.websites[0] ?? {};
      const { isUp } = found?.statuses[0] ?? {};
      const [first] = results ?? [];
      expect(first?.result).toBe(isUp === undefined ? first?.result : isUp ? "up" : "down");
    }),
  );
});
