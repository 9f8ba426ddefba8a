import { expect, test } from "vitest";
import type { VrrpInterface } from "../../../src/exporter/api/vrrp.ts";
import { contendersIn } from "../../../src/exporter/fleet/snapshot.ts";
import type { Observation } from "../../../src/exporter/polling/observation.ts";
import { failed, interfaceOf, listOf, seen } from "../../support/observations.ts";
import { clustersOf, fleetOf, groupLines, MEMBER_A, MEMBER_B, MEMBER_C } from "./support.ts";

/** One good answer of an appliance with these interfaces. */
function sees(appliance: string, ...interfaces: readonly Partial<VrrpInterface>[]): Observation {
  return seen.vrrp(appliance, listOf(interfaces.map(interfaceOf)));
}
/** An answer in which `carp0` is there and cannot be read. */
function garbled(appliance: string, ...readable: readonly Partial<VrrpInterface>[]): Observation {
  return seen.vrrp(appliance, listOf(readable.map(interfaceOf), { unreadable: ["carp0"] }));
}

const MASTER = { state: "MASTER", configuredRole: "master", priority: 204 } as const;
const BACKUP = { state: "BACKUP", configuredRole: "backup", priority: 100 } as const;
const GROUP = "2 192.0.2.100:";
/** Another interface of a member in the same group, and a BACKUP that joins the addresses of both. */
const SECOND = { name: "carp1", vip: "192.0.2.101" } as const;
const BOTH = { ...BACKUP, aliases: ["192.0.2.101"] } as const;

interface Case {
  readonly name: string;
  readonly polls: readonly Observation[];
  readonly groups: readonly string[];
}

test.each<Case>([
  {
    name: "one MASTER and one BACKUP are healthy",
    polls: [sees("a", MASTER), sees("b", BACKUP)],
    groups: [`${GROUP} masters a, backups b, unknown -, preferred true`],
  },
  {
    name: "two MASTERs are a split brain, and none of them is the preferred one",
    polls: [sees("a", MASTER), sees("b", { ...BACKUP, state: "MASTER" })],
    groups: [`${GROUP} masters a+b, backups -, unknown -, preferred -`],
  },
  {
    name: "two BACKUPs are a group without a master",
    polls: [sees("a", { ...MASTER, state: "BACKUP" }), sees("b", BACKUP)],
    groups: [`${GROUP} masters -, backups a+b, unknown -, preferred -`],
  },
  {
    name: "a state word that is not known makes a known member, neither master nor backup",
    polls: [sees("a", { ...MASTER, state: "INIT" }), sees("b", { ...BACKUP, state: "MASTER" })],
    groups: [`${GROUP} masters b, backups -, unknown -, preferred false`],
  },
  {
    name: "an appliance that has never been seen is an unknown member of every group",
    polls: [sees("a", MASTER, { name: "carp1", vhid: 3, vip: "192.0.2.101" })],
    groups: [
      `${GROUP} masters a, backups -, unknown b, preferred true`,
      "3 192.0.2.101: masters a, backups -, unknown b, preferred true",
    ],
  },
  {
    name: "a member that falls silent becomes an unknown member of the groups it was last seen in, and of no other",
    polls: [sees("a", MASTER), sees("b", { ...BACKUP, vhid: 3 }), failed.vrrp("b", "timeout")],
    groups: [
      `${GROUP} masters a, backups -, unknown -, preferred true`,
      "3 192.0.2.100: masters -, backups -, unknown b, preferred -",
    ],
  },
  {
    name: "a group stays when all of its members fall silent",
    polls: [sees("a", MASTER), sees("b", BACKUP), failed.vrrp("a", "connect"), failed.vrrp("b", "connect")],
    groups: [`${GROUP} masters -, backups -, unknown a+b, preferred -`],
  },
  {
    name: "an interface that a good answer lacks has left the group",
    polls: [sees("a", MASTER), sees("b", BACKUP), sees("b")],
    groups: [`${GROUP} masters a, backups -, unknown -, preferred true`],
  },
  {
    name: "a group that every member has left is gone",
    polls: [sees("a", MASTER), sees("b", BACKUP), sees("b"), sees("a")],
    groups: [],
  },
  {
    name: "an interface that was in the last good answer and is unreadable now makes an unknown member",
    polls: [sees("a", MASTER), sees("b", BACKUP), garbled("b")],
    groups: [`${GROUP} masters a, backups -, unknown b, preferred true`],
  },
  {
    name: "an interface stays unknown for as long as it is unreadable, also across a failed poll",
    polls: [sees("a", MASTER), sees("b", BACKUP), garbled("b"), failed.vrrp("b", "decode"), garbled("b")],
    groups: [`${GROUP} masters a, backups -, unknown b, preferred true`],
  },
  {
    name: "an interface that was never readable is in no group",
    polls: [sees("a", MASTER), garbled("b")],
    groups: [`${GROUP} masters a, backups -, unknown -, preferred true`],
  },
  {
    name: "a member is MASTER if any of its interfaces in the group is",
    polls: [sees("a", { ...MASTER, state: "BACKUP" }, { ...MASTER, ...SECOND }), sees("b", BOTH)],
    groups: [`${GROUP} masters a, backups b, unknown -, preferred true`],
  },
  {
    name: "a member with a MASTER interface is MASTER even if another one in the group is unreadable",
    polls: [
      sees("a", BACKUP, { ...MASTER, ...SECOND }),
      garbled("a", { ...MASTER, ...SECOND }),
      sees("b", BOTH),
    ],
    groups: ["2 192.0.2.101: masters a, backups b, unknown -, preferred true"],
  },
  {
    name: "a member whose unreadable interface may be the MASTER is unknown, whatever its other one says",
    polls: [
      sees("a", MASTER, { ...BACKUP, ...SECOND }),
      garbled("a", { ...BACKUP, ...SECOND }),
      sees("b", BOTH),
    ],
    groups: ["2 192.0.2.101: masters -, backups b, unknown a, preferred -"],
  },
  {
    name: "members that list the addresses of a group in another order are in one group, named by the first member",
    polls: [
      sees("b", { ...BACKUP, vip: "192.0.2.101", aliases: ["192.0.2.100"] }),
      sees("a", { ...MASTER, aliases: ["192.0.2.101"] }),
    ],
    groups: [`${GROUP} masters a, backups b, unknown -, preferred true`],
  },
  {
    name: "a member whose VIP is an alias of the other is in its group, also if it lacks the other's VIP",
    polls: [sees("a", MASTER), sees("b", { ...BACKUP, vip: "192.0.2.101", aliases: ["192.0.2.100"] })],
    groups: [`${GROUP} masters a, backups b, unknown -, preferred true`],
  },
  {
    name: "an alias that two members have makes no group of their VIPs",
    polls: [
      sees("a", { ...MASTER, aliases: ["192.0.2.110"] }),
      sees("b", { ...BACKUP, vip: "192.0.2.101", aliases: ["192.0.2.110"] }),
    ],
    groups: [
      `${GROUP} masters a, backups -, unknown -, preferred true`,
      "2 192.0.2.101: masters -, backups b, unknown -, preferred -",
    ],
  },
  {
    name: "an address under another VHID is in another group",
    polls: [sees("a", MASTER), sees("b", { ...BACKUP, vhid: 3, aliases: ["192.0.2.100"] })],
    groups: [
      `${GROUP} masters a, backups -, unknown -, preferred true`,
      "3 192.0.2.100: masters -, backups b, unknown -, preferred -",
    ],
  },
  {
    name: "a member with two interfaces whose addresses another one joins is one member",
    polls: [sees("a", { ...MASTER, state: "BACKUP" }, { ...MASTER, ...SECOND }), sees("b", BOTH)],
    groups: [`${GROUP} masters a, backups b, unknown -, preferred true`],
  },
  {
    name: "two spellings of one IPv6 address are one group",
    polls: [sees("a", { ...MASTER, vip: "2001:DB8:0:0::64" }), sees("b", { ...BACKUP, vip: "2001:db8::64" })],
    groups: ["2 2001:db8::64: masters a, backups b, unknown -, preferred true"],
  },
])("$name", ({ polls, groups }) => {
  expect(groupLines(fleetOf([MEMBER_A, MEMBER_B], polls))).toEqual(groups);
});

test("an appliance that is MASTER of one address under two VHIDs is its one master", () => {
  const polls = [sees("a", MASTER, { ...MASTER, name: "carp1", vhid: 3 }), sees("b", BACKUP)];
  const [cluster] = clustersOf(fleetOf([MEMBER_A, MEMBER_B], polls));
  expect(cluster?.groups.map((group) => contendersIn(group, "master"))).toEqual([["a"], ["a"]]);
});

test("a rival is MASTER under one of its VHIDs, whatever it is under the others", () => {
  const polls = [
    sees("a", MASTER),
    sees("b", { ...MASTER, vhid: 3 }, { ...BACKUP, name: "carp1", vhid: 4, aliases: ["192.0.2.100"] }),
  ];
  const [cluster] = clustersOf(fleetOf([MEMBER_A, MEMBER_B], polls));
  expect(cluster?.groups.map((group) => contendersIn(group, "master"))).toEqual([["a", "b"], ["b", "a"], []]);
});

test.each<Case>([
  {
    name: "the FAILOVER MASTER is preferred, whatever the priorities are",
    polls: [sees("a", { ...MASTER, priority: 1 }), sees("b", BACKUP), sees("c", BACKUP)],
    groups: [`${GROUP} masters a, backups b+c, unknown -, preferred true`],
  },
  {
    name: "a MASTER that is not the FAILOVER MASTER is not preferred, even with the highest priority",
    polls: [
      sees("a", { ...MASTER, state: "BACKUP", priority: 1 }),
      sees("b", { ...BACKUP, state: "MASTER" }),
      sees("c", BACKUP),
    ],
    groups: [`${GROUP} masters b, backups a+c, unknown -, preferred false`],
  },
  {
    name: "where none is FAILOVER MASTER, the one with the highest priority is preferred",
    polls: [sees("a", { ...MASTER, configuredRole: "backup" }), sees("b", BACKUP), sees("c", BACKUP)],
    groups: [`${GROUP} masters a, backups b+c, unknown -, preferred true`],
  },
  {
    name: "where several are FAILOVER MASTER, the one with the highest priority is preferred",
    polls: [
      sees("a", MASTER),
      sees("b", { ...BACKUP, configuredRole: "master", priority: 220 }),
      sees("c", BACKUP),
    ],
    groups: [`${GROUP} masters a, backups b+c, unknown -, preferred false`],
  },
  {
    name: "the highest priority may be shared",
    polls: [
      sees("a", { ...MASTER, configuredRole: "backup" }),
      sees("b", { ...BACKUP, priority: 204 }),
      sees("c", BACKUP),
    ],
    groups: [`${GROUP} masters a, backups b+c, unknown -, preferred true`],
  },
  {
    name: "an unknown member counts with the type it reported last",
    polls: [
      sees("a", MASTER),
      sees("b", { ...BACKUP, state: "MASTER" }),
      sees("c", BACKUP),
      failed.vrrp("a", "connect"),
    ],
    groups: [`${GROUP} masters b, backups c, unknown a, preferred false`],
  },
  {
    name: "an unknown member counts with the priority it reported last",
    polls: [
      sees("a", { ...MASTER, configuredRole: "backup" }),
      sees("b", { ...BACKUP, state: "MASTER" }),
      sees("c"),
      failed.vrrp("a", "tls"),
    ],
    groups: [`${GROUP} masters b, backups -, unknown a, preferred false`],
  },
  {
    name: "a member that has left the group is not preferred any more",
    polls: [sees("a", MASTER), sees("b", { ...BACKUP, state: "MASTER" }), sees("c", BACKUP), sees("a")],
    groups: [`${GROUP} masters b, backups c, unknown -, preferred true`],
  },
  {
    name: "a member without a readable priority does not stand in the way of the highest one",
    polls: [
      sees("a", { ...MASTER, configuredRole: "backup" }),
      sees("b", { ...BACKUP, priority: undefined }),
      sees("c", BACKUP),
    ],
    groups: [`${GROUP} masters a, backups b+c, unknown -, preferred true`],
  },
])("preferred: $name", ({ polls, groups }) => {
  expect(groupLines(fleetOf([MEMBER_A, MEMBER_B, MEMBER_C], polls))).toEqual(groups);
});

/** Who was MASTER at once of the first group after these polls, each at a second. */
function mastersAfter(polls: readonly (readonly [second: number, observation: Observation])[]) {
  const fleet = fleetOf([MEMBER_A, MEMBER_B, MEMBER_C]);
  for (const [second, observation] of polls) {
    const nowMs = second * 1000;
    fleet.record({ ...observation, sentAtMs: nowMs, expiresAtMs: 1e9 }, nowMs);
  }
  return clustersOf(fleet, 100_000)[0]?.groups[0]?.mastersAtOnce;
}

// A rival whose own group knows no change of the other master: only this group says that another poll counts.
test("a rival is MASTER at once with another member when its next poll, which finds nothing new, says so", () => {
  const rival = sees("b", { ...MASTER, vhid: 3, vip: "192.0.2.101" });
  const polls = [
    [0, sees("a", { ...MASTER, state: "BACKUP" })],
    [0, sees("c", { ...BACKUP, aliases: ["192.0.2.101"] })],
    ...[0, 1].map((second) => [second, rival] as const),
    ...[10, 15].map((second) => [second, sees("a", MASTER)] as const),
    [15, sees("c", { ...BACKUP, aliases: ["192.0.2.101"] })],
  ] as const;
  expect(mastersAfter(polls)).toEqual([]);
  expect(mastersAfter([...polls, [20, rival]])).toEqual(["a", "b"]);
});

test("a former MASTER that cannot be read is MASTER at once with another member when its next poll says the same", () => {
  const polls = [
    [0, sees("a", { ...MASTER, state: "BACKUP" })],
    [0, sees("b", MASTER)],
    [5, garbled("b")],
    ...[10, 15].map((second) => [second, sees("a", MASTER)] as const),
  ] as const;
  expect(mastersAfter(polls)).toEqual([]);
  expect(mastersAfter([...polls, [20, garbled("b")]])).toEqual(["a", "b"]);
});
