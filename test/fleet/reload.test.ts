import { expect, test } from "vitest";

import {
  applianceOf,
  configOf,
  interfaceOf,
  listOf,
  vrrpFailed,
  vrrpSeen,
  websiteOf,
  websiteSeen,
} from "../support/observations.ts";
import { fleetOf, MEMBER_A, MEMBER_B } from "./support.ts";

const SHOP = websiteOf({ id: 1, name: "shop" });
const BLOG = websiteOf({ id: 2, name: "blog" });
const WAF = applianceOf({ name: "waf", labels: { site: "ams" }, websites: [SHOP, BLOG] });
const MASTER = vrrpSeen("waf", listOf([interfaceOf()]));
const BACKUP = vrrpSeen("waf", listOf([interfaceOf({ state: "BACKUP" })]));
const SHOP_OK = websiteSeen("waf", 1, [{ protocol: "http", status: 200 }]);
const SHOP_BROKEN = websiteSeen("waf", 1, [{ protocol: "http", status: 503 }]);
const HISTORY = [MASTER, BACKUP, SHOP_OK, SHOP_BROKEN];

test("what stays keeps its values, counters and totals over a reload", () => {
  const fleet = fleetOf([WAF], HISTORY);
  const before = fleet.snapshot(0);
  fleet.configure(configOf(structuredClone(WAF)), 0);
  expect(fleet.snapshot(0)).toEqual(before);
});

test("another timeout, credential or place in the file leaves what is known as it is", () => {
  const fleet = fleetOf([WAF], HISTORY);
  const [before] = fleet.snapshot(0).appliances;
  const polling = {
    ...WAF.polling,
    vrrp: { kind: "interval", intervalMs: 10_000, timeoutMs: 1_000 } as const,
  };
  fleet.configure(
    configOf(applianceOf({ name: "new" }), { ...WAF, polling, http: { ...WAF.http, fingerprint: "x" } }),
    0,
  );
  expect(fleet.snapshot(0).appliances[1]).toEqual(before);
});

test("an appliance whose base_url has changed starts anew", () => {
  const fleet = fleetOf([WAF], HISTORY);
  fleet.configure(configOf({ ...WAF, baseUrl: "https://elsewhere.example" }), 1_000);
  expect(fleet.snapshot(1_000)).toEqual(fleetOf([WAF]).snapshot(1_000));
});

test("an appliance that is gone is forgotten, and starts anew when it comes back", () => {
  const fleet = fleetOf([WAF], HISTORY);
  fleet.configure(configOf(), 0);
  expect(fleet.snapshot(0).appliances).toEqual([]);
  fleet.configure(configOf(WAF), 0);
  expect(fleet.snapshot(0)).toEqual(fleetOf([WAF]).snapshot(0));
});

test("an appliance that is disabled is forgotten in the same way", () => {
  const fleet = fleetOf([WAF], HISTORY);
  fleet.configure(configOf({ ...WAF, enabled: false }), 0);
  expect(fleet.snapshot(0).appliances).toEqual([]);
  fleet.configure(configOf(WAF), 0);
  expect(fleet.snapshot(0)).toEqual(fleetOf([WAF]).snapshot(0));
});

test("a website that is gone is forgotten, its counter too, and the others stay", () => {
  const fleet = fleetOf([WAF], [...HISTORY, websiteSeen("waf", 2, [{ protocol: "http", status: 200 }])]);
  fleet.configure(configOf({ ...WAF, websites: [BLOG] }), 0);
  fleet.configure(configOf(WAF), 0);
  const [shop, blog] = fleet.snapshot(0).appliances[0]?.websites ?? [];
  expect(shop).toMatchObject({ website: "shop", health: { state: "never_polled" }, statuses: undefined });
  expect(blog).toMatchObject({ website: "blog", statuses: [{ status: 200, changes: 0 }] });
});

test("changed labels, website names, expectations and clusters take effect at once and cost no counter", () => {
  const fleet = fleetOf([WAF], HISTORY);
  const store = { ...SHOP, name: "store", expectStatus: { ranges: [{ from: 503, to: 503 }] } };
  fleet.configure(configOf({ ...WAF, cluster: "fra", labels: { site: "fra" }, websites: [store] }), 0);
  const [waf] = fleet.snapshot(0).appliances;
  expect(waf?.identity).toEqual({ appliance: "waf", cluster: "fra", labels: { site: "fra" } });
  expect(waf?.vrrp.identity).toEqual(waf?.identity);
  expect(waf?.vrrp.list?.interfaces[0]?.transitions).toBe(1);
  expect(waf?.websites[0]).toMatchObject({
    website: "store",
    statuses: [{ status: 503, isUp: true, changes: 1 }],
  });
  expect(waf?.websites[0]?.identity).toEqual(waf?.identity);
});

test("a failure is kept over a reload, and so is the comparison with what was seen before it", () => {
  const fleet = fleetOf([WAF], [MASTER, vrrpFailed("waf", "tls")]);
  fleet.configure(configOf({ ...WAF, labels: {} }), 0);
  expect(fleet.snapshot(0).appliances[0]?.vrrp.health.failure?.reason).toBe("tls");
  fleet.record(BACKUP, 0);
  expect(fleet.snapshot(0).appliances[0]?.vrrp.list?.interfaces[0]?.transitions).toBe(1);
});

test("an appliance that was never polled counts as stalled two intervals and a timeout after the second in which first polls are spread", () => {
  const fleet = fleetOf([WAF]);
  fleet.configure(configOf({ ...WAF, labels: {} }), 10_000);
  expect(fleet.snapshot(14_999).appliances[0]?.vrrp.health.state).toBe("never_polled");
  expect(fleet.snapshot(15_000).appliances[0]?.vrrp.health.failure?.reason).toBe("stalled");
});

test("the websites of an appliance have the patience of their own interval, after the first poll of the list", () => {
  const fleet = fleetOf([WAF]);
  const states = [84_999, 85_000].map(
    (nowMs) => fleet.snapshot(nowMs).appliances[0]?.websites[0]?.health.state,
  );
  expect(states).toEqual(["never_polled", "failed"]);
});

test("sections in which nothing has changed are the same objects, those that have changed are new ones", () => {
  const other = applianceOf({ name: "other" });
  const fleet = fleetOf([MEMBER_A, MEMBER_B, WAF, other], HISTORY);
  const before = fleet.snapshot(0);
  expect(fleet.snapshot(1).appliances[2]?.vrrp).toBe(before.appliances[2]?.vrrp);
  const { sections } = fleet.record(SHOP_OK, 1);
  const after = fleet.snapshot(1);
  expect(after.appliances[2]?.vrrp).toBe(before.appliances[2]?.vrrp);
  expect(after.appliances[2]?.websites[1]).toBe(before.appliances[2]?.websites[1]);
  expect(after.appliances[3]?.vrrp).toBe(before.appliances[3]?.vrrp);
  expect(after.clusters[0]).toBe(before.clusters[0]);
  expect(after.appliances[2]?.websites[0]).not.toBe(before.appliances[2]?.websites[0]);
  expect(sections).toContain(after.appliances[2]?.websites[0]);
});
