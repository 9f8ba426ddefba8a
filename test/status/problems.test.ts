import { expect, test } from "vitest";
import type { Observation } from "../../src/polling/observation.ts";
import { fleetOf, MEMBER_A, MEMBER_B, MEMBER_C } from "../fleet/support.ts";
import {
  applianceOf,
  interfaceOf,
  listOf,
  vrrpFailed,
  vrrpSeen,
  WALL_MS,
  websiteFailed,
  websiteOf,
  websiteSeen,
} from "../support/observations.ts";
import { documentOf, problemLines } from "./support.ts";

const SHOP = websiteOf({ id: 2, name: "shop" });
const A = { ...MEMBER_A, websites: [SHOP] };
const B = { ...MEMBER_B, websites: [SHOP] };
const MASTER = interfaceOf({ type: "1" });
const BACKUP = interfaceOf({ state: "BACKUP", priority: 100, type: "2" });
const GROUP = "192.0.2.100 (vhid 2)";

function https(appliance: string, status: number): Observation {
  return websiteSeen(appliance, 2, [{ protocol: "https", status }]);
}
const A_IS_MASTER = vrrpSeen("a", listOf([MASTER]));
const B_IS_BACKUP = vrrpSeen("b", listOf([BACKUP]));
const SHOP_IS_UP = [https("a", 200), https("b", 200)];

interface Case {
  readonly name: string;
  readonly polls: readonly Observation[];
  readonly problems: readonly string[];
}

test.each<Case>([
  { name: "all is well", polls: [A_IS_MASTER, B_IS_BACKUP, ...SHOP_IS_UP], problems: [] },
  {
    name: "two masters are a split brain",
    polls: [A_IS_MASTER, vrrpSeen("b", listOf([{ ...BACKUP, state: "MASTER" }])), ...SHOP_IS_UP],
    problems: [`critical split_brain: Split brain: a and b are MASTER of ${GROUP}`],
  },
  {
    name: "two backups are nobody's master",
    polls: [vrrpSeen("a", listOf([{ ...MASTER, state: "BACKUP" }])), B_IS_BACKUP, ...SHOP_IS_UP],
    problems: [`critical no_master: Nobody is MASTER of ${GROUP}`],
  },
  {
    name: "the master may be the one of whom nothing is known",
    polls: [
      vrrpFailed("a", "timeout"),
      B_IS_BACKUP,
      websiteFailed("a", 2, "appliance_down"),
      https("b", 200),
    ],
    problems: [
      "critical appliance_down: a cannot be seen: it does not answer in time (timeout)",
      `critical master_unknown: Nobody is known to be MASTER of ${GROUP}: nothing is known of a`,
    ],
  },
  {
    name: "a backup that cannot be seen is one thing, not two",
    polls: [A_IS_MASTER, vrrpFailed("b", "auth"), https("a", 200)],
    problems: [
      "warning appliance_down: b cannot be seen: it refuses the credentials (auth)",
      "unknown not_polled_yet: Not everything of b was polled yet",
    ],
  },
  {
    name: "a cluster none of whose appliances can be seen is critical",
    polls: [
      A_IS_MASTER,
      vrrpFailed("a", "connect"),
      vrrpFailed("b", "connect"),
      websiteFailed("a", 2, "appliance_down"),
      websiteFailed("b", 2, "appliance_down"),
    ],
    problems: [
      "critical appliance_down: a cannot be seen: it cannot be reached (connect)",
      "critical appliance_down: b cannot be seen: it cannot be reached (connect)",
      `critical master_unknown: Nobody is known to be MASTER of ${GROUP}: nothing is known of a and b`,
    ],
  },
  {
    name: "a master without a backup has lost its redundancy",
    polls: [A_IS_MASTER, vrrpSeen("b", listOf([{ ...BACKUP, state: "FAULT" }])), ...SHOP_IS_UP],
    problems: [
      `warning odd_state: b reports FAULT on carp0 for ${GROUP}`,
      `warning redundancy_lost: No redundancy: a is MASTER of ${GROUP}, and nobody is BACKUP`,
    ],
  },
  {
    name: "another than the preferred member is master",
    polls: [
      vrrpSeen("a", listOf([{ ...MASTER, state: "BACKUP" }])),
      vrrpSeen("b", listOf([{ ...BACKUP, state: "MASTER" }])),
      ...SHOP_IS_UP,
    ],
    problems: [`warning preferred_master_lost: b is MASTER of ${GROUP}, and is not the preferred member`],
  },
  {
    name: "a website that is down for all is down",
    polls: [A_IS_MASTER, B_IS_BACKUP, https("a", 503), https("b", 0)],
    problems: [
      "critical website_down: Website shop is down: https 503 from a, https no HTTP response from b",
    ],
  },
  {
    name: "a website that is down for one only is down in part",
    polls: [A_IS_MASTER, B_IS_BACKUP, https("a", 200), https("b", 503)],
    problems: [
      "warning website_down_in_part: Website shop is down as seen from some only: https 503 from b; up: https 200 from a",
    ],
  },
  {
    name: "a website whose test fails from one is not known there",
    polls: [A_IS_MASTER, B_IS_BACKUP, https("a", 200), websiteFailed("b", 2, "timeout")],
    problems: [
      "warning website_unknown: Nothing is known of website shop from b: its test fails, it does not answer in time (timeout)",
    ],
  },
  {
    name: "a website whose tests all fail may be down: that is critical",
    polls: [A_IS_MASTER, B_IS_BACKUP, websiteFailed("a", 2, "timeout"), websiteFailed("b", 2, "timeout")],
    problems: [
      "critical website_unknown: Nothing is known of website shop from a and b: its test fails, it does not answer in time (timeout)",
    ],
  },
  {
    name: "what each sees down by another protocol does not contradict itself",
    polls: [
      A_IS_MASTER,
      B_IS_BACKUP,
      ...["a", "b"].map((appliance) =>
        websiteSeen(appliance, 2, [
          { protocol: "http", status: appliance === "a" ? 503 : 200 },
          { protocol: "https", status: appliance === "a" ? 200 : 503 },
        ]),
      ),
    ],
    problems: [
      "warning website_down_in_part: Website shop is down as seen from some only: http 503 from a, https 503 from b; " +
        "up: https 200 from a, http 200 from b",
    ],
  },
  {
    name: "tests that fail for different reasons are told with the reason of each",
    polls: [A_IS_MASTER, B_IS_BACKUP, websiteFailed("a", 2, "timeout"), websiteFailed("b", 2, "decode")],
    problems: [
      "critical website_unknown: Nothing is known of website shop from a and b: its test fails, " +
        "from a: it does not answer in time (timeout); from b: its answer cannot be understood (decode)",
    ],
  },
  {
    name: "a website whose status cannot be read is not well, though its test succeeds",
    polls: [A_IS_MASTER, B_IS_BACKUP, websiteSeen("a", 2, []), websiteSeen("b", 2, [])],
    problems: ["critical website_unknown: No status of website shop can be read from a and b"],
  },
  {
    name: "a protocol that was there before is missed",
    polls: [
      A_IS_MASTER,
      B_IS_BACKUP,
      ...SHOP_IS_UP,
      websiteSeen("a", 2, [{ protocol: "http", status: 200 }]),
    ],
    problems: ["warning website_unknown: No status of website shop can be read from a by https"],
  },
  {
    name: "a list that deviates from the API",
    polls: [
      vrrpSeen("a", listOf([MASTER], { anomalies: [{ kind: "bad_field", path: "carp0.priority" }] })),
      B_IS_BACKUP,
      ...SHOP_IS_UP,
    ],
    problems: ["warning api_anomalies: The VRRP list of a deviates from the API in one place"],
  },
])("$name", ({ polls, problems }) => {
  expect(problemLines(documentOf(fleetOf([A, B], polls)))).toEqual(problems);
});

test("a protocol that is configured is missed where its status was never readable", () => {
  const both = websiteOf({ id: 2, name: "shop", protocols: ["http", "https"] });
  const fleet = fleetOf(
    [{ ...MEMBER_A, websites: [both] }],
    [
      vrrpSeen("a", listOf([])),
      websiteSeen("a", 2, [
        { protocol: "http", status: undefined },
        { protocol: "https", status: 200 },
      ]),
    ],
  );
  expect(problemLines(documentOf(fleet))).toEqual([
    "warning website_unknown: No status of website shop can be read from a by http",
  ]);
});

test("a website that its appliances name differently is told by both names", () => {
  const fleet = fleetOf(
    [A, { ...MEMBER_B, websites: [websiteOf({ id: 2, name: "intranet" })] }],
    [A_IS_MASTER, B_IS_BACKUP, https("a", 503), https("b", 503)],
  );
  expect(problemLines(documentOf(fleet))).toEqual([
    "critical website_down: Website shop / intranet is down: https 503 from a and b",
  ]);
});

test("between the answers of two members a clean failover is no split brain and no lack of a master", () => {
  const fleet = fleetOf([A, B], [A_IS_MASTER, B_IS_BACKUP, ...SHOP_IS_UP]);
  fleet.record(vrrpSeen("b", listOf([{ ...BACKUP, state: "MASTER" }])), 5000);
  expect(documentOf(fleet, {}, 5000).clusters[0]?.groups[0]?.state).toBe("changing");
  expect(documentOf(fleet, {}, 5000).verdict).toBe("unknown");
  expect(problemLines(documentOf(fleet, {}, 5000))).toEqual([
    `unknown master_changing: Who is MASTER of ${GROUP} is changing: a was not heard since`,
  ]);
});

test("a change is not told by answers from before it, however rare the polls of a member are", () => {
  const vrrp = { kind: "schedule", expression: "0 0 3 * * *", timeoutMs: 4000 } as const;
  const seldom = { ...B, polling: { ...B.polling, vrrp } };
  const late = { expiresAtMs: 1e9 };
  const fleet = fleetOf([A, seldom], [vrrpSeen("a", listOf([MASTER]), late), ...SHOP_IS_UP]);
  fleet.record(vrrpSeen("b", listOf([BACKUP]), late), 0);
  fleet.record(vrrpSeen("a", listOf([{ ...MASTER, state: "BACKUP" }]), late), 1000);
  const stateAt = (nowMs: number) => documentOf(fleet, {}, nowMs).clusters[0]?.groups[0]?.state;
  expect([stateAt(1000), stateAt(16_000), stateAt(9e8)]).toEqual(["changing", "changing", "changing"]);
  fleet.record(vrrpSeen("b", listOf([BACKUP]), late), 9e8);
  expect(stateAt(9e8)).toBe("no_master");
});

test("a member that was not heard since a change is unknown as soon as its answer is stale", () => {
  const fleet = fleetOf([A, B], [A_IS_MASTER, B_IS_BACKUP, ...SHOP_IS_UP]);
  fleet.record(vrrpSeen("a", listOf([{ ...MASTER, state: "BACKUP" }]), { expiresAtMs: 60_000 }), 1000);
  const stateAt = (nowMs: number) => documentOf(fleet, {}, nowMs).clusters[0]?.groups[0]?.state;
  expect([stateAt(13_999), stateAt(14_000)]).toEqual(["changing", "unknown"]);
});

test("several members that are waited for are told in the plural", () => {
  const fleet = fleetOf([A, B, MEMBER_C], [A_IS_MASTER, B_IS_BACKUP, ...SHOP_IS_UP]);
  fleet.record(vrrpSeen("c", listOf([BACKUP])), 0);
  fleet.record(vrrpSeen("c", listOf([MASTER])), 1000);
  const summaryAt = (nowMs: number) =>
    documentOf(fleet, {}, nowMs).problems.find(({ group }) => group?.vhid === 2)?.summary;
  expect(summaryAt(1000)).toBe(`Who is MASTER of ${GROUP} is changing: a and b were not heard since`);
});

test("a steady split brain is told whatever another group of the cluster and a third member do", () => {
  const other = interfaceOf({ name: "carp1", vhid: 3 });
  const fleet = fleetOf([A, B, MEMBER_C], [...SHOP_IS_UP, vrrpSeen("b", listOf([MASTER]))]);
  const states = Array.from({ length: 8 }, (_, nth) => {
    const state = nth % 2 === 0 ? "MASTER" : "BACKUP";
    fleet.record(vrrpSeen("a", listOf([MASTER, { ...other, state }])), 100 * nth);
    fleet.record(vrrpSeen("c", listOf([{ ...MASTER, state }])), 100 * nth + 1);
    const [group] = documentOf(fleet, {}, 100 * nth + 2).clusters[0]?.groups ?? [];
    return group?.state;
  });
  expect(new Set(states)).toEqual(new Set(["split_brain"]));
});

test("two masters of whom each was heard since the other became one are a split brain", () => {
  const fleet = fleetOf([A, B], [A_IS_MASTER, B_IS_BACKUP, ...SHOP_IS_UP]);
  fleet.record(vrrpSeen("b", listOf([{ ...BACKUP, state: "MASTER" }])), 5000);
  fleet.record(A_IS_MASTER, 5001);
  expect(documentOf(fleet).clusters[0]?.groups[0]?.state).toBe("split_brain");
});

/** What is told of a certificate that ends so many days after the document was made. */
function ending(days: number): readonly string[] {
  const notAfterSeconds = WALL_MS / 1000 + 60 + days * 86_400;
  const certificate = { notAfterSeconds, subject: "", issuer: "", sha256: "" };
  return problemLines(
    documentOf(fleetOf([A], [vrrpSeen("a", listOf([]), { certificate }), https("a", 200)])),
  );
}

test("a certificate is told of two weeks before its end, and after it", () => {
  expect(ending(15)).toEqual([]);
  expect(ending(13)).toEqual([
    "warning certificate_expires: The certificate of a expires: it ends 2023-11-27",
  ]);
  expect(ending(-1)).toEqual([
    "warning certificate_expires: The certificate of a has expired: it ends 2023-11-13",
  ]);
});

test("an appliance that stands alone and reports neither MASTER nor BACKUP is not well", () => {
  const lone = applianceOf({ name: "lone" });
  const fleet = fleetOf([lone], [vrrpSeen("lone", listOf([{ ...MASTER, state: "INIT" }]))]);
  expect(problemLines(documentOf(fleet))).toEqual([
    `critical odd_state: lone reports INIT on carp0 for ${GROUP}`,
  ]);
});

test("the unknown masters of many groups are one thing, after what they follow from", () => {
  const interfaces = [1, 2, 3, 4].map((vhid) => ({ ...MASTER, name: `carp${vhid}`, vhid }));
  const fleet = fleetOf(
    [MEMBER_A, MEMBER_B],
    [
      vrrpSeen("a", listOf(interfaces)),
      vrrpSeen("b", listOf(interfaces)),
      vrrpFailed("a", "connect"),
      vrrpFailed("b", "connect"),
    ],
  );
  expect(problemLines(documentOf(fleet))).toEqual([
    "critical appliance_down: a cannot be seen: it cannot be reached (connect)",
    "critical appliance_down: b cannot be seen: it cannot be reached (connect)",
    "critical master_unknown: Nobody is known to be MASTER of 192.0.2.100 (vhid 1), 192.0.2.100 (vhid 2) and 2 other groups: " +
      "nothing is known of a and b",
  ]);
});

test("what was reported before and is gone, and what flaps, is told", () => {
  const group = { cluster: "ams", vhid: 2, vip: "192.0.2.100" };
  const at = { wallMs: WALL_MS, monotonicMs: 0 };
  const recalled = { vanished: [{ ...group, goneAt: at }], flapping: [{ ...group, appliance: "a", at }] };
  const fleet = fleetOf([A, B], [A_IS_MASTER, B_IS_BACKUP, ...SHOP_IS_UP]);
  expect(problemLines(documentOf(fleet, { recalled }))).toEqual([
    `critical group_vanished: ${GROUP} is not reported any more by any appliance`,
    `warning flapping: a flaps: its state in ${GROUP} has changed four times or more in 5 minutes`,
  ]);
});

test("a configuration that could not be reloaded is told of", () => {
  const fleet = fleetOf([A, B], [A_IS_MASTER, B_IS_BACKUP, ...SHOP_IS_UP]);
  expect(documentOf(fleet, { reloadFailedAtMs: WALL_MS }).problems).toEqual([
    {
      kind: "reload_failed",
      severity: "warning",
      summary: "The configuration could not be reloaded: the one before it is in force",
      since: "2023-11-14T22:13:20.000Z",
    },
  ]);
});

function shopAt(seconds: number, appliance: string, status: number): Observation {
  const given = { completedAtMs: WALL_MS + seconds * 1000 };
  return websiteSeen(appliance, 2, [{ protocol: "https", status }], given);
}

test("a website is down since the last appliance saw it go", () => {
  const fleet = fleetOf([A, B], [A_IS_MASTER, B_IS_BACKUP, shopAt(0, "a", 200), shopAt(0, "b", 200)]);
  fleet.record(shopAt(1, "b", 503), 0);
  fleet.record(shopAt(9, "a", 503), 0);
  const [problem] = documentOf(fleet).problems;
  expect(problem).toMatchObject({ kind: "website_down", since: "2023-11-14T22:13:29.000Z" });
});

test("an odd state that was so at the first sight has been so since then at least", () => {
  const fleet = fleetOf([A, B], [vrrpSeen("a", listOf([{ ...MASTER, state: "INIT" }])), B_IS_BACKUP]);
  const { problems } = documentOf(fleet);
  expect(problems.find(({ kind }) => kind === "odd_state")).toMatchObject({
    since: "2023-11-14T22:13:20.000Z",
    isSinceAtLeast: true,
  });
});

test("of one kind in one cluster 100 problems are shown, and one that counts the rest", () => {
  const interfaces = Array.from({ length: 105 }, (_, nth) =>
    interfaceOf({ name: `carp${nth}`, vip: `vip-${nth}`, state: "INIT" }),
  );
  const lines = problemLines(
    documentOf(fleetOf([applianceOf({ name: "lone" })], [vrrpSeen("lone", listOf(interfaces))])),
  );
  expect(lines).toHaveLength(101);
  expect(lines.at(-2)).toBe("critical odd_state: lone reports INIT on carp99 for vip-99 (vhid 2)");
  expect(lines.at(-1)).toBe("critical odd_state: 5 more problems of this kind in cluster lone");
});
