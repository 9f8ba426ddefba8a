import { expect, test } from "vitest";
import type { VrrpInterface } from "../../../src/exporter/api/vrrp.ts";
import { linksOf } from "../../../src/exporter/fleet/links.ts";
import { contendersIn } from "../../../src/exporter/fleet/snapshot.ts";
import type { Observation } from "../../../src/exporter/polling/observation.ts";
import { failed, interfaceOf, listOf, seen } from "../../support/observations.ts";
import { clustersOf, fleetOf, groupLines, MEMBER_A, MEMBER_B, MEMBER_C } from "./support.ts";

const MEMBERS = "abcd";

/** Interfaces with one address: `a vlan10/em0` is one of member `a`. `?` stands before those of which nobody knows the link. */
function linksIn(words: string): string {
  const ports = words.split(", ").map((each) => {
    const [, member = "", name = "", device = ""] = /^(\w) ([^/]+)\/?(.*)$/.exec(each) ?? [];
    return { member: MEMBERS.indexOf(member), name, device };
  });
  return linksOf(ports)
    .map(({ ports: own, isKnown }) => {
      const names = own.map(({ member, name }) => `${MEMBERS[member]} ${name}`);
      return `${isKnown ? "" : "? "}${names.join(" + ")}`;
    })
    .join(", ");
}

test.each([
  ["one name is one link, whatever the devices are", "a vlan10/em0, b vlan10/igb0", "a vlan10 + b vlan10"],
  ["a name comes before a device", "a x/em0, a y/em1, b x/em1, b y/em0", "a x + b x, a y + b y"],
  ["one device is one link without a common name", "a lan/em0, b carp0/em0", "a lan + b carp0"],
  [
    "devices decide about what is left by names",
    "a x/em0, a y/em1, b x/igb0, b z/em1",
    "a x + b x, a y + b z",
  ],
  [
    "an interface without a partner is on a link of its own where no other member has one that is left",
    "a vlan10, a vlan20, a vlan30, b vlan10",
    "a vlan10 + b vlan10, a vlan20, a vlan30",
  ],
  ["one member's interfaces are on links of their own", "a vlan10/em0, a vlan20/em0", "a vlan10, a vlan20"],
  ["nobody can tell without a common name or device", "a lan/em0, b carp0/igb0", "? a lan + b carp0"],
  ["an empty device is no device", "a lan/, b carp0/", "? a lan + b carp0"],
  [
    "nobody can tell which of two interfaces a device means",
    "a x/em0, a y/em0, b z/em0",
    "? a x + a y + b z",
  ],
  [
    "what is known stays known beside interfaces that are left in both members",
    "a vlan10, a vlan20, b vlan10, b vlan30",
    "a vlan10 + b vlan10, ? a vlan20 + b vlan30",
  ],
  ["three members have one name", "a x/1, b x/2, c x/3", "a x + b x + c x"],
  ["a third member joins by device", "a x/em0, b x/em0, c y/em0", "a x + b x + c y"],
  [
    "a third member does not join by a device that only one of the others has",
    "a x/em0, b x/em1, c y/em1",
    "a x + b x, ? c y",
  ],
  ["a link may lack a member", "a x, a y, b x, b y, c x", "a x + b x + c x, a y + b y"],
  ["links of other pairs are told apart by names", "a x, b x, b y, c y", "a x + b x, b y + c y"],
  [
    "links whose names two members have are not one link by a device that all have",
    "a x/em0, b x/em0, c y/em0, d y/em0",
    "a x + b x, c y + d y",
  ],
])("links: %s", (_, ports, links) => {
  expect(linksIn(ports)).toBe(links);
});

const MASTER = { state: "MASTER" } as const;
const BACKUP = { state: "BACKUP" } as const;
const FAULT = { state: "FAULT" } as const;
const LOCAL = { vhid: 1, vip: "fe80::1", configuredRole: undefined, priority: undefined } as const;

/** An answer with interfaces of the link-local VIP, by their names; the device has the name of the interface. */
function sees(appliance: string, interfaces: Readonly<Record<string, Partial<VrrpInterface>>>): Observation {
  const all = Object.entries(interfaces).map(([name, each]) =>
    interfaceOf({ ...LOCAL, name, device: name, ...each }),
  );
  return seen.vrrp(appliance, listOf(all));
}

function linesAfter(...polls: readonly Observation[]): readonly string[] {
  return groupLines(fleetOf([MEMBER_A, MEMBER_B, MEMBER_C].slice(0, membersIn(polls)), polls));
}

function membersIn(polls: readonly Observation[]): number {
  return Math.max(2, ...polls.map(({ appliance }) => MEMBERS.indexOf(appliance) + 1));
}

interface Case {
  readonly name: string;
  readonly polls: readonly Observation[];
  readonly groups: readonly string[];
}

test.each<Case>([
  {
    name: "a link-local VIP is one group on each link",
    polls: [sees("a", { vlan10: MASTER, vlan20: BACKUP }), sees("b", { vlan10: BACKUP, vlan20: MASTER })],
    groups: [
      "1 fe80::1 vlan10: masters a, backups b, unknown -, preferred -",
      "1 fe80::1 vlan20: masters b, backups a, unknown -, preferred -",
    ],
  },
  {
    name: "a group without a master on one link is one",
    polls: [sees("a", { vlan10: MASTER, vlan20: BACKUP }), sees("b", { vlan10: BACKUP, vlan20: FAULT })],
    groups: [
      "1 fe80::1 vlan10: masters a, backups b, unknown -, preferred -",
      "1 fe80::1 vlan20: masters -, backups a, unknown -, preferred -",
    ],
  },
  {
    name: "any VIP that an appliance has on two interfaces under one VHID is one group on each link",
    polls: [
      sees("a", { red: { ...MASTER, vip: "192.0.2.1" }, blue: { ...BACKUP, vip: "192.0.2.1" } }),
      sees("b", { red: { ...BACKUP, vip: "192.0.2.1" }, blue: { ...MASTER, vip: "192.0.2.1" } }),
    ],
    groups: [
      "1 192.0.2.1 red: masters a, backups b, unknown -, preferred -",
      "1 192.0.2.1 blue: masters b, backups a, unknown -, preferred -",
    ],
  },
  {
    name: "a link-local IPv4 VIP is one group on each link",
    polls: [
      sees("a", { x: { ...MASTER, vip: "169.254.1.1" }, y: { ...BACKUP, vip: "169.254.1.1" } }),
      sees("b", { y: { ...MASTER, vip: "169.254.1.1" } }),
    ],
    groups: [
      "1 169.254.1.1 x: masters a, backups -, unknown -, preferred -",
      "1 169.254.1.1 y: masters b, backups a, unknown -, preferred -",
    ],
  },
  {
    name: "the one link of a VIP has no name",
    polls: [sees("a", { vlan10: MASTER }), sees("b", { vlan10: { ...BACKUP, device: "igb0" } })],
    groups: ["1 fe80::1: masters a, backups b, unknown -, preferred -"],
  },
  {
    name: "links have the names at the member that is configured first",
    polls: [
      sees("b", { lan: { ...BACKUP, device: "em0" }, dmz: { ...MASTER, device: "em1" } }),
      sees("a", { x: { ...MASTER, device: "em0" }, y: { ...BACKUP, device: "em1" } }),
    ],
    groups: [
      "1 fe80::1 x: masters a, backups b, unknown -, preferred -",
      "1 fe80::1 y: masters b, backups a, unknown -, preferred -",
    ],
  },
  {
    name: "interfaces with other names and devices may be on one link or on two",
    polls: [sees("a", { em0: MASTER }), sees("b", { igb0: MASTER })],
    groups: ["1 fe80::1 of unknown links: masters a+b, backups -, unknown -, preferred -"],
  },
  {
    name: "a known link stays known beside others that nobody can tell apart",
    polls: [sees("a", { vlan10: MASTER, em0: MASTER }), sees("b", { vlan10: BACKUP, igb0: MASTER })],
    groups: [
      "1 fe80::1 vlan10: masters a, backups b, unknown -, preferred -",
      "1 fe80::1 em0 of unknown links: masters a+b, backups -, unknown -, preferred -",
    ],
  },
  {
    name: "a link that one member lacks has no backup there",
    polls: [sees("a", { vlan10: MASTER, vlan20: MASTER }), sees("b", { vlan10: BACKUP })],
    groups: [
      "1 fe80::1 vlan10: masters a, backups b, unknown -, preferred -",
      "1 fe80::1 vlan20: masters a, backups -, unknown -, preferred -",
    ],
  },
  {
    name: "a third member is in the groups of its links",
    polls: [
      sees("a", { vlan10: MASTER, vlan20: BACKUP }),
      sees("b", { vlan10: BACKUP, vlan20: BACKUP }),
      sees("c", { vlan20: MASTER }),
    ],
    groups: [
      "1 fe80::1 vlan10: masters a, backups b, unknown -, preferred -",
      "1 fe80::1 vlan20: masters c, backups a+b, unknown -, preferred -",
    ],
  },
  {
    name: "members with one interface are in other groups if a third member tells their links apart",
    polls: [
      sees("a", { x: { ...MASTER, device: "em0" }, y: { ...BACKUP, device: "em1" } }),
      sees("b", { lan: { ...BACKUP, device: "em0" } }),
      sees("c", { dmz: { ...MASTER, device: "em1" } }),
    ],
    groups: [
      "1 fe80::1 x: masters a, backups b, unknown -, preferred -",
      "1 fe80::1 y: masters c, backups a, unknown -, preferred -",
    ],
  },
  {
    name: "the interfaces of a member that never answered are not known on any link",
    polls: [sees("a", { vlan10: MASTER, vlan20: BACKUP })],
    groups: [
      "1 fe80::1 vlan10: masters a, backups -, unknown b, preferred -",
      "1 fe80::1 vlan20: masters -, backups a, unknown b, preferred -",
    ],
  },
  {
    name: "a silent member is unknown on each of its links",
    polls: [
      sees("a", { vlan10: MASTER, vlan20: BACKUP }),
      sees("b", { vlan20: MASTER }),
      failed.vrrp("b", "timeout"),
    ],
    groups: [
      "1 fe80::1 vlan10: masters a, backups -, unknown -, preferred -",
      "1 fe80::1 vlan20: masters -, backups a, unknown b, preferred -",
    ],
  },
  {
    name: "an interface that is unreadable now is still on its link",
    polls: [
      sees("a", { vlan10: MASTER, vlan20: BACKUP }),
      sees("b", { vlan10: BACKUP, vlan20: MASTER }),
      seen.vrrp(
        "b",
        listOf([interfaceOf({ ...LOCAL, ...BACKUP, name: "vlan10" })], { unreadable: ["vlan20"] }),
      ),
    ],
    groups: [
      "1 fe80::1 vlan10: masters a, backups b, unknown -, preferred -",
      "1 fe80::1 vlan20: masters -, backups a, unknown b, preferred -",
    ],
  },
  {
    name: "a second link gives names to both, and takes them along when it goes",
    polls: [
      sees("a", { vlan10: MASTER, vlan20: MASTER }),
      sees("b", { vlan10: BACKUP, vlan20: BACKUP }),
      sees("a", { vlan10: MASTER }),
      sees("b", { vlan10: BACKUP }),
    ],
    groups: ["1 fe80::1: masters a, backups b, unknown -, preferred -"],
  },
  {
    name: "a link that is gone at one member is still one at the other",
    polls: [
      sees("a", { vlan10: MASTER, vlan20: MASTER }),
      sees("b", { vlan10: BACKUP, vlan20: BACKUP }),
      sees("a", { vlan10: MASTER }),
    ],
    groups: [
      "1 fe80::1 vlan10: masters a, backups b, unknown -, preferred -",
      "1 fe80::1 vlan20: masters -, backups b, unknown -, preferred -",
    ],
  },
  {
    name: "members that list other addresses first are in the group of the link",
    polls: [
      sees("a", {
        vlan10: { ...MASTER, aliases: ["2001:db8:10::1"] },
        vlan20: { ...BACKUP, aliases: ["2001:db8:20::1"] },
      }),
      sees("b", {
        lan: { ...MASTER, vip: "2001:db8:20::1", aliases: ["fe80::1"] },
        dmz: { ...BACKUP, vip: "2001:db8:10::1", aliases: ["fe80::1"] },
      }),
    ],
    groups: [
      "1 fe80::1 vlan10: masters a, backups b, unknown -, preferred -",
      "1 fe80::1 vlan20: masters b, backups a, unknown -, preferred -",
    ],
  },
  {
    name: "a link-local alias joins a VIP on its link and on no other",
    polls: [
      sees("a", { vlan10: MASTER, vlan20: BACKUP }),
      sees("b", { vlan20: { ...MASTER, vip: "2001:db8::1", aliases: ["fe80::1"] } }),
    ],
    groups: [
      "1 fe80::1 vlan10: masters a, backups -, unknown -, preferred -",
      "1 fe80::1 vlan20: masters b, backups a, unknown -, preferred -",
    ],
  },
  {
    name: "a zone and a prefix are no part of a VIP",
    polls: [
      sees("a", { carp0: { ...MASTER, vip: "fe80::1%em0" }, carp1: { ...MASTER, vip: "192.0.2.100/24" } }),
      sees("b", { carp0: { ...BACKUP, vip: "fe80::1%igb0" }, carp1: { ...BACKUP, vip: "192.0.2.100" } }),
    ],
    groups: [
      "1 fe80::1: masters a, backups b, unknown -, preferred -",
      "1 192.0.2.100: masters a, backups b, unknown -, preferred -",
    ],
  },
  {
    name: "a zone and a prefix are no part of an alias",
    polls: [
      sees("a", { carp0: { ...MASTER, vip: "192.0.2.100", aliases: ["192.0.2.101/24"] } }),
      sees("b", { carp0: { ...BACKUP, vip: "192.0.2.101", aliases: ["192.0.2.100/32"] } }),
    ],
    groups: ["1 192.0.2.100: masters a, backups b, unknown -, preferred -"],
  },
])("$name", ({ polls, groups }) => {
  expect(linesAfter(...polls)).toEqual(groups);
});

/** Who may be MASTER of each group, its rivals included. */
function contendersAfter(...polls: readonly Observation[]): readonly (readonly string[])[] {
  const [cluster] = clustersOf(fleetOf([MEMBER_A, MEMBER_B], polls));
  return (cluster?.groups ?? []).map((group) => contendersIn(group, "master"));
}

const OTHER = { ...MASTER, vhid: 2 } as const;

test.each([
  [
    "a link-local address on another link is no rival under another VHID",
    sees("a", { vlan10: MASTER }),
    sees("b", { vlan20: OTHER }),
    [["a"], ["b"]],
  ],
  [
    "a link-local address on the same link is a rival under another VHID",
    sees("a", { vlan10: MASTER }),
    sees("b", { vlan10: OTHER }),
    [
      ["a", "b"],
      ["b", "a"],
    ],
  ],
  [
    "a link-local alias on another link is no rival",
    sees("a", { vlan10: { ...MASTER, vip: "2001:db8::1", aliases: ["fe80::9"] } }),
    sees("b", { vlan20: { ...OTHER, vip: "2001:db8::2", aliases: ["fe80::9"] } }),
    [["a"], ["b"]],
  ],
  [
    "devices that two links have crosswise make no rivals where names pair the links",
    sees("a", { vlan10: { ...MASTER, device: "em0" }, vlan20: { ...BACKUP, vhid: 2, device: "em1" } }),
    sees("b", { vlan10: { ...BACKUP, device: "em1" }, vlan20: { ...OTHER, device: "em0" } }),
    [["a"], ["b"]],
  ],
  [
    "an address that an appliance has on two links is no rival of itself on the other link",
    sees("a", { red: { ...MASTER, vip: "192.0.2.1" }, blue: { ...BACKUP, vip: "192.0.2.1" } }),
    sees("b", { red: { ...BACKUP, vip: "192.0.2.1" }, blue: { ...MASTER, vip: "192.0.2.1" } }),
    [["a"], ["b"]],
  ],
  [
    "any other address is a rival under another VHID, whatever the interfaces are called",
    sees("a", { vlan10: { ...MASTER, vip: "2001:db8::1" } }),
    sees("b", { vlan20: { ...OTHER, vip: "2001:db8::1" } }),
    [
      ["a", "b"],
      ["b", "a"],
    ],
  ],
])("%s", (_, a, b, contenders) => {
  expect(contendersAfter(a, b)).toEqual(contenders);
});
