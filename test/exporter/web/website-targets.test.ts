import { expect, test } from "vitest";
import type { WebsiteTargetsConfig } from "../../../src/exporter/config/config.ts";
import { refusalOf } from "../../../src/exporter/web/target-policy.ts";
import { clusterTargets, websiteTargets } from "../../../src/exporter/web/website-targets.ts";
import { clustersOf, fleetOf, MEMBER_A } from "../fleet/support.ts";
import {
  applianceOf,
  failed,
  interfaceOf,
  listOf,
  PUBLIC_TARGETS,
  seen,
} from "../../support/observations.ts";
import { createJudge } from "../judge/support.ts";

const ALL_PRIVATE = { ports: [8443], private: true };

/** Judged as the host of a URL, and as a VIP. */
const refusalsOf = (host: string, policy: WebsiteTargetsConfig = PUBLIC_TARGETS) => [
  refusalOf(`https://${host.includes(":") ? `[${host}]` : host}:443/`, "", policy),
  refusalOf("https://shop.example:443/", host, policy),
];

test.each(["192.0.2.1", "8.8.8.8", "172.32.0.1", "2001:db8::7", "2001:DB8:0:0::7", "2606:4700::1111"])(
  "the address %s is a target",
  (host) => {
    expect(refusalsOf(host)).toEqual([undefined, undefined]);
  },
);

test.each([
  "shop.example",
  "Shop_1.Example",
  "xn--mnchen-3ya.example",
  "m\u00FCnchen.example",
  "localhost.example",
])("the name %s is a target", (host) => {
  expect(refusalsOf(host)[0]).toBeUndefined();
});

test.each(
  [
    "127.0.0.1 127.255.255.254 0.0.0.0 0.1.2.3 169.254.169.254 224.0.0.18 255.255.255.255",
    "192.0.0.192 100.100.100.200 168.63.129.16 240.0.0.1",
    ":: ::1 fe80::1 febf::1 ff02::1 fd00:ec2::254",
    "fd20:ce::254 fd00:c1::a9fe:a9fe fd00:42::42 metadata.google.internal Metadata.goog",
    // IPv6 that contains an IPv4 address: mapped, compatible, translated, NAT64, 6to4 and Teredo.
    "::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:192.0.2.1 ::7f00:1 ::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1 64:ff9b::169.254.169.254 64:ff9b:1::7f00:1 2002:7f00:1:: 2001:0:7f00:1::1",
    // Other notations of 127.0.0.1 and of public addresses.
    "0x7f.1 2130706433 127.1 0177.0.0.1 0x7f000001 017700000001 127.0.0.01 0 1",
    "\uFF11\uFF12\uFF17.0.0.1 127\u30020\u30020\u30021 \u2460\u2461\u2466.0.0.1 %31%32%37.0.0.1",
    "127.0.0.1. 8.8.8.8. shop.example. localhost. 127.1.",
    "localhost LOCALHOST \uFF4Cocalhost a.localhost a.b.LocalHost localhost.localdomain localhost6",
    "ip6-localhost ip6-loopback .localhost",
    // Other dots at the end.
    "localhost\u3002 localhost\uFF0E localhost\uFF61 shop.internal\u3002 shop.example\u3002",
  ].flatMap((line) => line.split(" ")),
)("%j is never a target, whatever is allowed", (host) => {
  expect(refusalsOf(host, ALL_PRIVATE)).toEqual(["address", "address"]);
});

test.each(
  [
    "10.1.2.3 172.16.0.1 172.31.255.254 192.168.1.1 100.64.0.1 198.18.0.1 fd12::1 fec0::1",
    "intra db.internal nas.LOCAL x.lan x.home.arpa x.corp x.home x.intranet x.private",
    "x.test x.localdomain kubernetes.default.svc a.svc.cluster.local x.\uFF4Cocal",
  ].flatMap((line) => line.split(" ")),
)("%s is a target only if private ones are allowed", (host) => {
  expect(refusalsOf(host)).toEqual(["private", "private"]);
  expect(refusalsOf(host, ALL_PRIVATE)).toEqual([undefined, undefined]);
});

test.each([
  ["http://shop.example:80/", undefined],
  ["https://shop.example:443/", undefined],
  ["http://shop.example:443/", undefined],
  ["https://shop.example:22/", "port"],
  ["https://shop.example:8443/", "port"],
])("the port of %s is judged: %s, for VIPs too", (url, refusal) => {
  for (const vip of ["", "192.0.2.1"]) expect(refusalOf(url, vip, PUBLIC_TARGETS)).toBe(refusal);
  expect(refusalOf("https://shop.example:8443/", "", { ports: [8443], private: false })).toBeUndefined();
});

/** An appliance on its own has no groups, so it is one of a pair of which the other one is disabled. */
function verdictOf(websites: number, vips: number, given: Parameters<typeof seen.details>[2] = {}) {
  const ids = Array.from({ length: websites }, (_, nth) => nth + 1);
  const interfaces = Array.from({ length: vips }, (_, nth) =>
    interfaceOf({ name: `carp${nth}`, vhid: nth % 255, vip: `198.51.${100 + (nth >> 8)}.${nth % 256}` }),
  );
  const member = { ...MEMBER_A, discovery: { exclude: [], limit: 1000 } };
  const fleet = fleetOf(
    [member, { ...member, name: "b", enabled: false }],
    [
      seen.vrrp("a", listOf(interfaces)),
      seen.websites("a", ids),
      ...ids.map((id) =>
        seen.details("a", id, { host: `shop${id}.example`, name: `shop${id}`, bind: ["*"], ...given }),
      ),
    ],
  );
  const [verdict] = clustersOf(fleet).map(
    (facts) => createJudge().judge(facts, { wallMs: 0, monotonicMs: 0 }).now,
  );
  if (verdict === undefined) throw new Error("a cluster is configured");
  return verdict;
}

test("a website has at most 64 VIPs, and the others are counted", () => {
  const { targets, leftOut } = clusterTargets(verdictOf(2, 70, { protocol: "https" }), PUBLIC_TARGETS);
  expect(targets).toHaveLength(2 + 2 * 64);
  expect(leftOut).toEqual({ limit: 2 * 6, address: 0, port: 0, private: 0 });
});

test("a cluster has at most 2,000 targets: those without a VIP, then one VIP of every website after another", () => {
  const { targets, leftOut } = clusterTargets(verdictOf(200, 1000), PUBLIC_TARGETS);
  expect(targets).toHaveLength(2000);
  expect(targets.slice(0, 400).map(({ vip }) => vip)).toEqual(Array(400).fill(""));
  expect(new Set(targets.slice(400, 800).map(({ vip }) => vip)).size).toBe(1);
  expect(new Set(targets.slice(400, 800).map(({ website }) => website.key)).size).toBe(200);
  expect(leftOut).toEqual({ limit: 200 * 2 * 1001 - 2000, address: 0, port: 0, private: 0 });
});

test("a header counts what is left out, by the reason", async () => {
  const verdicts = [
    verdictOf(1, 70),
    verdictOf(2, 3, { port: 22, protocol: "https" }),
    verdictOf(1, 1, { host: "localhost", protocol: "https" }),
    verdictOf(1, 0, { host: "db.internal", protocol: "https" }),
  ];
  const rendering = await websiteTargets(verdicts, PUBLIC_TARGETS);
  expect(rendering?.headers).toEqual({ "x-targets-left-out": "limit=12, address=1, port=8, private=1" });
});

const VRRP = seen.vrrp("a", listOf([]));

test.each([
  ["a VRRP list", [seen.websites("a", [1]), seen.details("a", 1)]],
  ["a list of websites", [VRRP]],
  ["the details of a website", [VRRP, seen.websites("a", [1, 2]), seen.details("a", 1)]],
  ["nothing", [VRRP, seen.websites("a", [1]), seen.details("a", 1)]],
  [
    "nothing, although a later list has more",
    [VRRP, seen.websites("a", [1]), seen.details("a", 1), seen.websites("a", [1, 2])],
  ],
  ["nothing, although a later list has others", [VRRP, seen.websites("a", [1, 2]), seen.websites("a", [3])]],
  ["nothing, although all failed", [failed.vrrp("a", "timeout"), failed.websites("a", "timeout")]],
])("all targets are unknown while this was not polled, of any cluster: %s", async (missing, observations) => {
  const polled = { ...MEMBER_A, discovery: { exclude: [], limit: 1000 } };
  const fleet = fleetOf([polled, applianceOf({ name: "without discovery" })], observations);
  const verdicts = clustersOf(fleet).map(
    (facts) => createJudge().judge(facts, { wallMs: 0, monotonicMs: 0 }).now,
  );
  const rendering = await websiteTargets(verdicts, PUBLIC_TARGETS);
  expect(rendering !== undefined).toBe(missing.startsWith("nothing"));
});
