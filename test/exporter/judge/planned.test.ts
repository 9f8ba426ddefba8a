import { expect, test } from "vitest";
import { gathered } from "../../../src/exporter/api/website-details.ts";
import type { ApplianceConfig } from "../../../src/exporter/config/config.ts";
import type { MaintenanceWindow } from "../../../src/exporter/maintenance/window.ts";
import { ABOUT_APPLIANCES, ALERTS, type AlertName } from "../../../src/exporter/judge/alerts.ts";
import { summaryOf } from "../../../src/exporter/document/document.ts";
import { judge } from "../../../src/exporter/judge/judge.ts";
import { alertOf } from "../../../src/exporter/judge/states.ts";
import { lastingProblems } from "../../../src/exporter/judge/problems.ts";
import type { ClusterVerdict } from "../../../src/exporter/judge/verdict.ts";
import { keysOf } from "../../../src/support/keys.ts";
import { clustersOf, fleetOf, MEMBER_A, MEMBER_B, MEMBER_C, pollsOf } from "../fleet/support.ts";
import { windowOf } from "../maintenance/support.ts";
import { applianceOf, failed, seen, WALL_MS, websiteOf } from "../../support/observations.ts";
import { replay, type Told } from "./support.ts";

const SHOP = [websiteOf({ id: 2, name: "shop" })];
const MEMBERS: readonly ApplianceConfig[] = [MEMBER_A, MEMBER_B].map((member) => ({
  ...member,
  websites: SHOP,
}));
const THREE = [...MEMBERS, { ...MEMBER_C, websites: SHOP }];

/** A window from second 3 to second 100, unless told otherwise. */
function work(scope: Parameters<typeof windowOf>[0], [from, to] = [3, 100]): MaintenanceWindow {
  return windowOf(scope, { beginMs: WALL_MS + from * 1000, endMs: WALL_MS + to * 1000 });
}
const ON_A = work({ appliances: ["a"] });
const ON_B = work({ appliances: ["b"] });
const ON_AMS = work({ clusters: ["ams"] });

function verdictAfter(words: string, windows: readonly MaintenanceWindow[], members = MEMBERS): Told {
  return replay(pollsOf(words), { members, windows }).verdict;
}

/** `VrrpFlapping` and `ApplianceDown a`. */
function mutedIn({ incidents, planned }: Pick<Told, "planned"> & Partial<Told>): readonly string[] {
  const muted = [...(incidents?.muted ?? []), ...(planned?.muted ?? [])];
  return muted.map(({ alert, appliance }) => `${alert} ${appliance}`.trim());
}

/** What is wrong; in parentheses what is planned. */
function wrongIn(verdict: ClusterVerdict): readonly string[] {
  return lastingProblems(verdict).map(({ kind, appliance, isPlanned }) => {
    const words = [kind, appliance ?? ""].join(" ").trim();
    return isPlanned === true ? `(${words})` : words;
  });
}

const PAIR = "a MASTER 1, b BACKUP 1, a 200 1, b 200 1, a MASTER 2, b BACKUP 2, a MASTER 4, b BACKUP 4";

/** The alerts that a window may mute, those about appliances once for each of these. */
function expectedMuted(
  names: readonly string[],
  of: readonly (typeof ALERTS)[AlertName][],
): readonly string[] {
  const about: readonly AlertName[] = ABOUT_APPLIANCES;
  return keysOf(ALERTS)
    .filter((alert) => of.includes(ALERTS[alert]))
    .flatMap((alert) => (about.includes(alert) ? names.map((name) => `${alert} ${name}`) : [alert]));
}

test("without a window nothing is planned", () => {
  expect(verdictAfter(PAIR, []).planned).toBeUndefined();
  expect(verdictAfter(PAIR, [work({ clusters: ["fra"] })]).planned).toBeUndefined();
  expect(verdictAfter(PAIR, [work({ appliances: ["a"] }, [5, 100])]).planned).toBeUndefined();
});

test("while all is well, a member's window mutes what can only follow from the member", () => {
  const muted = mutedIn(verdictAfter(PAIR, [ON_A]));
  // A failover of a pair is one from the member or to it.
  const ofA = expectedMuted(["a"], ["failovers", "member"]).filter((each) => each !== "FailoverNotReady a");
  expect(muted.toSorted()).toEqual([...ofA, "VrrpFailover b"].toSorted());
});

const SITE = { labels: { site: "ams" } };
test.each([
  { name: "its cluster", window: ON_AMS, members: MEMBERS },
  {
    name: "a label that both members share",
    window: work(SITE),
    members: MEMBERS.map((member) => ({ ...member, ...SITE })),
  },
])("a window of $name mutes everything but what is never muted", ({ window, members }) => {
  const muted = mutedIn(verdictAfter(PAIR, [window], members));
  expect(muted.toSorted()).toEqual(expectedMuted(["a", "b"], ["failovers", "member", "cluster"]).toSorted());
});

test("a window of an appliance that stands alone is one of its cluster", () => {
  const alone = applianceOf({ name: "a", websites: SHOP });
  const verdict = verdictAfter("a MASTER 1, a 200 1, a MASTER 4", [ON_A], [alone]);
  expect(mutedIn(verdict).toSorted()).toEqual(
    expectedMuted(["a"], ["failovers", "member", "cluster"]).toSorted(),
  );
});

test("a window of the only member that is enabled is not one of its cluster", () => {
  const [a, b] = [MEMBER_A, { ...MEMBER_B, enabled: false }];
  const muted = mutedIn(verdictAfter("a MASTER 1, a MASTER 4", [ON_A], [a, b]));
  expect(muted).toContain("ApplianceDown a");
  expect(muted).not.toContain("VrrpNoMaster");
});

test("windows of each member, or of a label that each has for itself, are not one of the cluster", () => {
  const racks = MEMBERS.map((member, nth) => ({ ...member, labels: { rack: `r${nth}` } }));
  const both = work({ appliances: ["a", "b"] });
  const each = [work({ labels: { rack: "r0" } }), { ...work({ labels: { rack: "r1" } }), id: "otherrack" }];
  for (const muted of [mutedIn(verdictAfter(PAIR, [both])), mutedIn(verdictAfter(PAIR, each, racks))]) {
    expect(muted).not.toContain("VrrpNoMaster");
    expect(muted).toContain("ApplianceDown a");
    expect(muted).toContain("ApplianceDown b");
  }
});

interface Case {
  readonly name: string;
  readonly window: MaintenanceWindow;
  readonly other?: MaintenanceWindow;
  /** Behind those of the pair. */
  readonly polls: string;
  readonly wrong: readonly string[];
  readonly members?: typeof MEMBERS;
}

test.each<Case>([
  {
    name: "the backup that is worked on reboots",
    window: ON_B,
    polls: "b silent 6, a MASTER 6, b silent 8, a MASTER 8",
    wrong: ["(redundancy_lost)", "(appliance_down b)"],
  },
  {
    name: "the other member dies: the cluster is dark",
    window: ON_B,
    polls: "b silent 6, a silent 7, b silent 8, a silent 9",
    wrong: ["cluster_dark"],
  },
  {
    name: "the other member dies when the backup is back",
    window: ON_B,
    polls: "b silent 6, b MASTER 8, a silent 9, b MASTER 9, a silent 10, b MASTER 12",
    wrong: ["redundancy_lost", "appliance_down a"],
  },
  {
    name: "the master that is worked on was handed over and reboots",
    window: ON_A,
    polls: "a BACKUP 5, b MASTER 5, a BACKUP 6, b MASTER 6, a silent 30, b MASTER 30, b 200 31",
    wrong: ["(redundancy_lost)", "(appliance_down a)"],
  },
  {
    name: "the master that is worked on reboots as it is: it was not handed over",
    window: ON_A,
    polls: "a silent 5, b MASTER 5, a silent 6, b MASTER 6, a silent 7, b MASTER 7, b 200 7",
    wrong: ["not_handed_over a", "(redundancy_lost)", "(appliance_down a)"],
  },
  {
    name: "the master that is worked on stops its daemon, answers with errors, and reboots after another one took over",
    window: ON_A,
    polls: "b MASTER 5, a refuses 5, b MASTER 10, a refuses 10, b MASTER 14, a silent 15, b 200 16",
    wrong: ["(redundancy_lost)", "(appliance_down a)"],
  },
  {
    name: "the master that is worked on answers with errors, and falls silent before another one took over",
    window: ON_A,
    polls: "b BACKUP 5, a refuses 5, a silent 8, b MASTER 10, b 200 16",
    wrong: ["not_handed_over a", "(redundancy_lost)", "(appliance_down a)"],
  },
  {
    name: "the master that is worked on reported BACKUP before it reboots, and nobody took over yet",
    window: ON_A,
    polls: "a BACKUP 5, b BACKUP 5, a silent 8, b BACKUP 8",
    wrong: ["master_unknown", "(appliance_down a)"],
  },
  {
    name: "nobody takes over from the master that is worked on",
    window: ON_A,
    polls: "a silent 5, b BACKUP 5, a silent 6, b BACKUP 6",
    wrong: ["master_unknown", "not_handed_over a", "(appliance_down a)"],
  },
  {
    name: "the member that is worked on lets a stranger in",
    window: ON_A,
    polls: "a BACKUP 5, b MASTER 5, a BACKUP 6, b MASTER 6, a refuses 30, b MASTER 30, b 200 31",
    wrong: ["(appliance_refused a)", "(backup_unknown)"],
  },
  {
    name: "split brain",
    window: ON_A,
    polls: "b MASTER 5, a MASTER 6, b MASTER 7, a MASTER 8",
    wrong: ["split_brain"],
  },
  {
    name: "split brain in a window of the cluster",
    window: ON_AMS,
    polls: "b MASTER 5, a MASTER 6, b MASTER 7, a MASTER 8",
    wrong: ["split_brain"],
  },
  {
    name: "a website goes down for its visitors",
    window: ON_B,
    polls: "a 503 5, a 503 6, a MASTER 6, b BACKUP 6",
    wrong: ["website_down"],
  },
  {
    name: "a website goes down in a window of the cluster",
    window: ON_AMS,
    polls: "a 503 5, a 503 6, a MASTER 6, b BACKUP 6",
    wrong: ["(website_down)"],
  },
  {
    name: "a website would be down at the member that is worked on",
    window: ON_B,
    polls: "b 503 5, b 503 6, a MASTER 6, b BACKUP 6",
    wrong: ["(failover_not_ready a)"],
  },
  {
    name: "a website would be down at the member that is to take over",
    window: ON_A,
    polls: "b 503 5, b 503 6, a MASTER 6, b BACKUP 6",
    wrong: ["failover_not_ready a"],
  },
  {
    name: "a website is down at the member that is worked on, which would not take over",
    window: work({ appliances: ["c"] }),
    members: THREE,
    polls: "c BACKUP/50 4, c 503 5, c 503 6, a MASTER 6, b BACKUP 6, c BACKUP/50 6",
    wrong: ["(website_partially_down)"],
  },
  {
    name: "a website would be down at the member that is not worked on",
    window: work({ appliances: ["c"] }),
    members: THREE,
    polls: "c BACKUP/50 4, c 200 4, b 503 5, b 503 6, a MASTER 6, b BACKUP 6, c BACKUP/50 6",
    wrong: ["failover_not_ready a"],
  },
  {
    name: "the preferred member is worked on, and another one is MASTER",
    window: ON_A,
    polls: "a BACKUP/200 5, b MASTER 5, a BACKUP/200 6, b MASTER 6, b 200 7",
    wrong: ["(preferred_master_lost)"],
  },
  {
    name: "the preferred member of one group is worked on, and another group is on its preferred member",
    window: ON_A,
    members: THREE,
    polls:
      "a BACKUP/200+BACKUP/50 5, b MASTER+BACKUP 5, c BACKUP/50+MASTER/200 5, c 200 5, " +
      "a BACKUP/200+BACKUP/50 6, b MASTER+BACKUP 6, c BACKUP/50+MASTER/200 6, b 200 7",
    wrong: ["(preferred_master_lost)"],
  },
  {
    name: "a member is worked on that is neither the preferred one nor MASTER",
    window: work({ appliances: ["c"] }),
    members: THREE,
    polls:
      "c BACKUP/50 4, c 200 4, a BACKUP/200 5, b MASTER 5, a BACKUP/200 6, b MASTER 6, b 200 7, c BACKUP/50 7",
    wrong: ["preferred_master_lost"],
  },
  {
    name: "of three members, one is worked on and another one dies",
    window: ON_B,
    members: THREE,
    polls: "c BACKUP 4, c 200 4, b silent 6, c silent 6, a MASTER 6, b silent 8, c silent 8, a MASTER 8",
    wrong: ["redundancy_lost", "appliance_down c", "(appliance_down b)"],
  },
  {
    name: "what was wrong before the window stays wrong",
    window: work({ appliances: ["b"] }, [7, 100]),
    polls: "b silent 5, a MASTER 6, b silent 8, a MASTER 8, a 200 8",
    wrong: ["redundancy_lost", "appliance_down b"],
  },
  {
    name: "what was wrong before the window stays wrong, also in another state since the first poll in the window",
    window: work({ appliances: ["b"] }, [7, 100]),
    polls: "b FAULT 5, a MASTER 6, b silent 8, a MASTER 9, a 200 9",
    wrong: ["redundancy_lost", "(appliance_down b)"],
  },
  {
    name: "what was wrong before the window, was over and comes again is planned",
    window: work({ appliances: ["b"] }, [7, 100]),
    polls: "b silent 5, a MASTER 6, b silent 8, b BACKUP 9, a MASTER 9, b silent 10, a MASTER 10, a 200 10",
    wrong: ["(redundancy_lost)", "(appliance_down b)"],
  },
  {
    name: "at the end of the window everything counts again",
    window: work({ appliances: ["b"] }, [3, 20]),
    polls: "b silent 6, a MASTER 6, b silent 20, a MASTER 20, a 200 20",
    wrong: ["redundancy_lost", "appliance_down b"],
  },
  {
    name: "a second window begins while the appliance reboots in the first one, which ends",
    window: work({ appliances: ["b"] }, [3, 20]),
    other: { ...work({ appliances: ["b"] }, [10, 100]), id: "another1" },
    polls: "b silent 6, a MASTER 6, b silent 12, a MASTER 12, a 200 12, b silent 30, a MASTER 30, a 200 30",
    wrong: ["(redundancy_lost)", "(appliance_down b)"],
  },
  {
    name: "a second window begins after the first one, at whose end the appliance was down",
    window: work({ appliances: ["b"] }, [3, 20]),
    other: { ...work({ appliances: ["b"] }, [25, 100]), id: "another1" },
    polls: "b silent 6, a MASTER 6, b silent 22, a MASTER 22, a 200 22, b silent 30, a MASTER 30, a 200 30",
    wrong: ["redundancy_lost", "appliance_down b"],
  },
  {
    name: "the master that is worked on lets nobody in, and its backup takes nothing over: its password is renewed",
    window: ON_A,
    polls: "a refuses 5, b BACKUP 5, a refuses 6, b BACKUP 6",
    wrong: ["(master_unknown)", "(appliance_refused a)"],
  },
  {
    name: "the member that is worked on says, by its clock, that it has been in FAULT since before the window",
    window: ON_B,
    polls: "b FAULT 5, a MASTER 5, b FAULT 6, a MASTER 6",
    wrong: ["(redundancy_lost)", "(odd_state b)"],
  },
])("$name", ({ window, other, polls, wrong, members }) => {
  const windows = other === undefined ? [window] : [window, other];
  const verdict = verdictAfter(`${PAIR}, ${polls}`, windows, members);
  expect(wrongIn(verdict)).toEqual(wrong);
  const isWrong = wrong.some((each) => !each.startsWith("("));
  expect(summaryOf(lastingProblems(verdict), true)).toBe(isWrong ? "wrong" : "well");
  // An incident of several appliances is planned if each of their problems is.
  const named = verdict.incidents.all.filter(({ kind }) => wrong.some((each) => each.includes(kind)));
  expect(named.map(({ kind, isPlanned }) => [kind, isPlanned])).toEqual(
    named.map(({ kind }) => [kind, wrong.every((each) => !each.startsWith(kind))]),
  );
});

test("what was planned when it was over stays so behind the window, and is no longer planned while it is not over", () => {
  const window = work({ appliances: ["b"] }, [3, 20]);
  const plans = (words: string) => {
    const { past } = replay(pollsOf(`${PAIR}, ${words}`), { members: MEMBERS, windows: [window] });
    return past.list().map(({ kind, isPlanned }) => [kind, isPlanned]);
  };
  expect(plans("b silent 6, b BACKUP 10, a MASTER 400")).toEqual([["appliance_down", true]]);
  expect(plans("b silent 6, a MASTER 15")).toEqual([["appliance_down", true]]);
  expect(plans("b silent 6, a MASTER 21, b silent 22")).toEqual([["appliance_down", undefined]]);
});

test.each([
  { name: "the configuration is planned", origin: "configuration", wrong: ["(appliance_down b)"] },
  { name: "the journal is not planned", origin: "command", wrong: ["appliance_down b"] },
] as const)(
  "what an exporter that starts in a window of $name, if nobody knows since when",
  ({ origin, wrong }) => {
    const fleet = fleetOf(MEMBERS, [failed.vrrp("b", "timeout")]);
    const at = { wallMs: WALL_MS + 5000, monotonicMs: 0 };
    const given = { windows: [{ ...ON_B, origin }], memory: new Map() };
    const verdicts = clustersOf(fleet).map((facts) => judge(facts, undefined, at, given));
    expect(verdicts.flatMap(wrongIn)).toEqual(wrong);
  },
);

const TO_B = "a BACKUP 10, b MASTER 10, a BACKUP 11, b MASTER 11";
const BACK = "a MASTER 40, b BACKUP 40, a MASTER 41, b BACKUP 41";
test.each([
  { name: "in the window", window: ON_A, polls: TO_B, muted: true },
  { name: "in a window of the other member", window: ON_B, polls: TO_B, muted: true },
  {
    name: "in a window of the other member, from one that fell silent",
    window: ON_B,
    polls: "a silent 10, b MASTER 10, a silent 11, b MASTER 11",
    muted: false,
  },
  {
    name: "in a window of the other member, from one in FAULT",
    window: ON_B,
    polls: "a FAULT 10, b MASTER 10, a FAULT 11, b MASTER 11",
    muted: false,
  },
  {
    name: "in a window, from the member that falls silent",
    window: ON_A,
    polls: "a silent 10, b MASTER 10, a silent 11, b MASTER 11",
    muted: true,
  },
  {
    name: "before it",
    window: work({ appliances: ["a"] }, [12, 100]),
    polls: `${TO_B}, a BACKUP 13, b MASTER 13`,
    muted: false,
  },
  {
    name: "in a window that ended since",
    window: work({ appliances: ["a"] }, [3, 20]),
    polls: `${TO_B}, a BACKUP 200, b MASTER 200`,
    muted: true,
  },
  {
    name: "seen within ten seconds of its end",
    window: work({ appliances: ["a"] }, [3, 5]),
    polls: TO_B,
    muted: true,
  },
  {
    name: "later than ten seconds behind its end",
    window: work({ appliances: ["a"] }, [3, 5]),
    polls: "a BACKUP 16, b MASTER 16, a BACKUP 17, b MASTER 17",
    muted: false,
  },
  {
    name: "in the window, and again behind its end",
    window: work({ appliances: ["a"] }, [3, 15]),
    polls: `${TO_B}, ${BACK}, a BACKUP 60, b MASTER 60, a BACKUP 61, b MASTER 61`,
    muted: false,
  },
])("a failover $name", ({ window, polls, muted }) => {
  const verdict = verdictAfter(`${PAIR}, ${polls}`, [window]);
  const alerts = mutedIn(verdict);
  expect(verdict.incidents.recent.at(-1)?.isPlanned).toBe(muted);
  expect(alerts.includes("VrrpFailover b")).toBe(muted);
});

test("of failovers there and back, those before a window are not planned", () => {
  const window = work({ appliances: ["a"] }, [55, 100]);
  const { past } = replay(
    pollsOf(`${PAIR}, ${TO_B}, ${BACK}, a BACKUP 60, b MASTER 60, a BACKUP 61, b MASTER 61`),
    {
      members: MEMBERS,
      windows: [window],
    },
  );
  const { failover, isPlanned } = past.list().find(({ kind }) => kind === "failover") ?? {};
  expect([failover?.repeated?.count, failover?.repeated?.planned, isPlanned]).toEqual([3, 1, true]);
});

test("of three members, a failover between the two that are not worked on is not planned", () => {
  const onC = [work({ appliances: ["c"] })];
  expect(mutedIn(verdictAfter(`${PAIR}, c BACKUP/50 4`, onC, THREE))).not.toContain("VrrpFailover b");
  const polls = `${PAIR}, c BACKUP/50 4, ${TO_B}, c BACKUP/50 11`;
  const alerts = mutedIn(verdictAfter(polls, onC, THREE));
  expect(alerts).not.toContain("VrrpFailover b");
  expect(alerts).toContain("VrrpFailover c");
});

/** The members of the pair take over from each other every two seconds, six times from second 10 on; `words` are more polls. */
function flaps(windows: readonly MaintenanceWindow[], words = ""): readonly string[] {
  const polls = Array.from({ length: 6 }, (_, nth) => {
    const [one, other] = nth % 2 === 0 ? ["BACKUP", "MASTER"] : ["MASTER", "BACKUP"];
    return `a ${one} ${10 + 2 * nth}, b ${other} ${10 + 2 * nth}`;
  });
  return wrongIn(verdictAfter([PAIR, ...polls, words].filter(Boolean).join(", "), windows));
}

test.each([
  { name: "without a window", windows: [], wrong: "flapping" },
  { name: "beside a member that is worked on", windows: [ON_B], wrong: "(flapping)" },
  { name: "in a window of the cluster", windows: [ON_AMS], wrong: "(flapping)" },
  {
    name: "in a window that ended since",
    windows: [work({ appliances: ["b"] }, [3, 25])],
    wrong: "(flapping)",
  },
  { name: "since before the window", windows: [work({ appliances: ["b"] }, [15, 100])], wrong: "flapping" },
  { name: "on behind the window", windows: [work({ appliances: ["b"] }, [3, 9])], wrong: "flapping" },
])("interfaces that flap $name", ({ windows, wrong }) => {
  expect(flaps(windows).filter((each) => each.includes("flapping"))).toEqual([wrong]);
});

test("the end of a window does not plan what flapped before it", () => {
  const within = Array.from({ length: 6 }, (_, nth) => {
    const [one, other] = nth % 2 === 0 ? ["BACKUP", "MASTER"] : ["MASTER", "BACKUP"];
    return `a ${one} ${30 + 2 * nth}, b ${other} ${30 + 2 * nth}`;
  }).join(", ");
  const windows = [work({ appliances: ["b"] }, [25, 45])];
  expect(flaps(windows, within)).toContain("flapping");
  expect(flaps(windows, `${within}, a MASTER 50, b BACKUP 50`)).toContain("flapping");
});

test("a member that has a fault beside one that is worked on does not flap because of the work", () => {
  expect(flaps([ON_B], "a FAULT 22")).toContain("flapping");
});

test("a website that is down at two backups of which one is worked on is shown for the other one", () => {
  const down = "a MASTER 1, b BACKUP 1, c BACKUP/50 1, a 200 1, b 200 1, c 200 1";
  const both = `${down}, a MASTER 4, b BACKUP 4, c BACKUP/50 4, b 503 10, b 503 11, c 503 12, c 503 13`;
  expect(wrongIn(verdictAfter(both, [ON_B], THREE))).toEqual([
    "website_partially_down",
    "(failover_not_ready a)",
  ]);
  expect(wrongIn(verdictAfter(`${down}, b 503 10, b 503 11`, [ON_B], THREE))).toEqual([
    "(failover_not_ready a)",
  ]);
});

test("a member that is worked on is named while it is MASTER", () => {
  expect(verdictAfter(PAIR, [ON_A]).planned?.masters).toEqual([{ appliance: "a", addresses: 1 }]);
  expect(verdictAfter(`${PAIR}, ${TO_B}`, [ON_A]).planned?.masters).toEqual([]);
  expect(verdictAfter(PAIR, [ON_B]).planned?.masters).toEqual([]);
});

test("a member that is worked on is named with the other one while both are MASTER", () => {
  const split = `${PAIR}, b MASTER 10, a MASTER 11, b MASTER 12`;
  const [a, b] = ["a", "b"].map((appliance) => ({ appliance, addresses: 1, masters: ["a", "b"] }));
  expect(verdictAfter(split, [ON_A]).planned?.masters).toEqual([a]);
  expect(verdictAfter(split, [ON_B]).planned?.masters).toEqual([b]);
});

test("a failover before the window does not count once it is five minutes old, though polls find nothing new", () => {
  const window = work({ appliances: ["b"] }, [20, 1000]);
  const over = "b MASTER 5, a BACKUP 6, b MASTER 8, a BACKUP 9, b MASTER 10, a BACKUP 11";
  const early = `${PAIR}, ${over}, a BACKUP 21, b MASTER 22`;
  expect(mutedIn(verdictAfter(early, [window]))).not.toContain("VrrpFailover b");
  expect(mutedIn(verdictAfter(`${early}, a BACKUP 400, b MASTER 401`, [window]))).toContain("VrrpFailover b");
});

const USABLE = { address: "192.0.2.82:80", role: "active", isOk: true } as const;
const DISCOVERING = { discovery: { exclude: [], limit: 200 } };
const detailsOf = (name: string, isOk: boolean) => {
  const backends = gathered([{ address: "192.0.2.81:80", role: "active", isOk }, USABLE]);
  return seen.details(name, 2, { host: "shop.example", backends });
};

test("what is planned follows the facts and the windows, also where no incident begins", () => {
  const fleet = fleetOf(
    [MEMBER_A, MEMBER_B].map((each) => ({ ...each, ...DISCOVERING })),
    [
      ...pollsOf("a MASTER 0, b BACKUP 0").map(({ observation }) => observation),
      ...["a", "b"].flatMap((name) => [seen.websites(name, [2]), detailsOf(name, true)]),
    ],
  );
  let before: ClusterVerdict | undefined;
  const muted = (second: number, ...windows: readonly MaintenanceWindow[]) => {
    const at = { wallMs: WALL_MS + second * 1000, monotonicMs: second };
    const [facts] = clustersOf(fleet);
    if (facts !== undefined) before = judge(facts, before, at, { windows });
    return before === undefined ? [] : mutedIn(before);
  };
  const onA = { ...ON_A, id: "otherone" };
  expect(muted(4, ON_B)).toContain("WebsiteBackendDown");
  expect(muted(5, ON_B, onA)).toContain("ApplianceDown a");
  expect(muted(6, ON_B)).not.toContain("ApplianceDown a");
  fleet.record(detailsOf("a", false), 7);
  expect(muted(7, ON_B)).not.toContain("WebsiteBackendDown");
});

const RENEWED = `${PAIR}, a refuses 6, b BACKUP 6, a refuses 8, b BACKUP 8`;
test.each([
  ["the master refuses the exporter, and the backup goes on", RENEWED, [ON_A], []],
  ["the window is one of the backup", RENEWED, [ON_B], ["VrrpMasterUnknown"]],
  ["it began before the window", RENEWED, [work({ appliances: ["a"] }, [7, 100])], ["VrrpMasterUnknown"]],
  ["the master is silent", RENEWED.replaceAll("refuses", "silent"), [ON_A], ["VrrpMasterUnknown"]],
  [
    "the backup refuses the exporter, too",
    `${PAIR}, a refuses 6, b refuses 6, a refuses 8, b refuses 8`,
    [ON_A],
    ["VrrpMasterUnknown"],
  ],
  [
    "the backup is silent",
    `${PAIR}, a refuses 6, b silent 6, a refuses 8, b silent 8`,
    [ON_A],
    ["VrrpMasterUnknown"],
  ],
  ["it was a backup", RENEWED.replaceAll("a MASTER", "a BACKUP"), [ON_A], ["VrrpMasterUnknown"]],
] as const)(
  "while a master's certificate or password is renewed, nobody is paged, unless %s",
  (_, words, windows, paged) => {
    const about = lastingProblems(verdictAfter(words, windows)).flatMap(({ kind, isPlanned }) =>
      isPlanned === true ? [] : [alertOf(kind) ?? ""],
    );
    expect(about.filter((alert) => /MasterUnknown|NoMaster/.test(alert))).toEqual(paged);
  },
);
