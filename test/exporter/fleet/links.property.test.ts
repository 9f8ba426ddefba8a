import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { VrrpInterface } from "../../../src/exporter/api/vrrp.ts";
import { groupNames } from "../../../src/exporter/fleet/group-names.ts";
import type { GroupReport, Reports } from "../../../src/exporter/fleet/vrrp.ts";
import { createFleet } from "../../../src/exporter/fleet/fleet.ts";
import { groupBy } from "../../../src/support/group-by.ts";
import { configOf, interfaceOf, listOf, seen } from "../../support/observations.ts";
import { clustersOf, MEMBER_A, MEMBER_B, MEMBER_C } from "./support.ts";

const MEMBERS = ["a", "b", "c"];

/** The interfaces of one member with one link-local VIP: each has another name. */
const localInterfaces = fc.uniqueArray(
  fc.record({ name: fc.constantFrom("x", "y", "z"), device: fc.constantFrom("", "em0", "em1") }),
  { maxLength: 3, selector: ({ name }) => name },
);

interface Port {
  readonly member: number;
  readonly name: string;
  readonly device: string;
}

/** The groups of two members by the words of docs/reference/metrics.md, each as its interfaces; `?` stands before one of unknown links. */
function expectedGroups(ports: readonly Port[]): readonly string[] {
  const named = new Set(
    ports.filter(({ name, member }) => ports.some((other) => other.name === name && other.member !== member)),
  );
  const left = ports.filter((port) => !named.has(port));
  const alike = (port: Port, member: number): readonly Port[] =>
    left.filter((other) => other.member === member && other.device === port.device && port.device !== "");
  const paired = left.filter((port) => [0, 1].every((member) => alike(port, member).length === 1));
  const alone = left.filter((port) => !paired.includes(port));
  const isUnclear = new Set(alone.map(({ member }) => member)).size > 1;
  const links = [
    ...groupBy(named, ({ name }) => name).values(),
    ...groupBy(paired, ({ device }) => device).values(),
    ...(isUnclear ? [] : alone.map((port) => [port])),
  ].map(wordsOf);
  return [...links, ...(isUnclear ? [`? ${wordsOf(alone)}`] : [])].toSorted();
}

function wordsOf(ports: readonly Port[]): string {
  return ports
    .map(({ member, name }) => `${MEMBERS[member]} ${name}`)
    .toSorted()
    .join(" + ");
}

test("two members' interfaces with a link-local VIP are the groups that the documentation describes", () => {
  fc.assert(
    fc.property(fc.tuple(localInterfaces, localInterfaces), (all) => {
      const fleet = createFleet();
      fleet.configure(configOf(MEMBER_A, MEMBER_B), 0);
      for (const [member, interfaces] of all.entries()) {
        const list = interfaces.map((each) => interfaceOf({ ...each, vhid: 1, vip: "fe80::1" }));
        fleet.record(seen.vrrp(MEMBERS[member] ?? "", listOf(list)), 0);
      }
      const groups = clustersOf(fleet)[0]?.groups ?? [];
      const words = groups.map(({ isOneLink, members }) => {
        const ports = members.flatMap(({ appliance, interfaces }) =>
          interfaces.map((name) => ({ member: MEMBERS.indexOf(appliance), name, device: "" })),
        );
        return `${isOneLink ? "" : "? "}${wordsOf(ports)}`;
      });
      const ports = all.flatMap((interfaces, member) => interfaces.map((each) => ({ member, ...each })));
      expect(words.toSorted()).toEqual(expectedGroups(ports));
      const labels = groups.map((group) => group.interface);
      expect(new Set(labels).size).toBe(labels.length);
      expect(new Set(groups.map(({ key }) => key)).size).toBe(groups.length);
      expect(labels.includes("")).toBe(labels.length === 1);
    }),
  );
});

test("each interface of three members is in one group, and a known link has one interface of a member", () => {
  fc.assert(
    fc.property(fc.tuple(localInterfaces, localInterfaces, localInterfaces), (all) => {
      const fleet = createFleet();
      fleet.configure(configOf(MEMBER_A, MEMBER_B, MEMBER_C), 0);
      for (const [member, interfaces] of all.entries()) {
        const list = interfaces.map((each) => interfaceOf({ ...each, vhid: 1, vip: "fe80::1" }));
        fleet.record(seen.vrrp(MEMBERS[member] ?? "", listOf(list)), 0);
      }
      const groups = clustersOf(fleet)[0]?.groups ?? [];
      const found = groups.flatMap(({ members }) =>
        members.flatMap(({ appliance, interfaces }) => interfaces.map((name) => `${appliance} ${name}`)),
      );
      const given = all.flatMap((interfaces, member) =>
        interfaces.map(({ name }) => `${MEMBERS[member]} ${name}`),
      );
      expect(found.toSorted()).toEqual(given.toSorted());
      const known = groups.filter(({ isOneLink }) => isOneLink).flatMap(({ members }) => members);
      expect(known.filter(({ interfaces }) => interfaces.length !== 1)).toEqual([]);
      expect(new Set(groups.map(({ key }) => key)).size).toBe(groups.length);
    }),
  );
});

/** Interfaces without links: no address is link-local, and a member has each VHID and VIP once. */
const plainInterfaces = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom("carp0", "carp1", "carp2", "carp3"),
    device: fc.constantFrom("", "em0"),
    vhid: fc.constantFrom(1, 2),
    vip: fc.constantFrom("192.0.2.1", "192.0.2.2", "2001:db8::3"),
    aliases: fc.subarray(["192.0.2.1", "192.0.2.2", "2001:db8::3", "192.0.2.4"]),
    state: fc.constantFrom("MASTER", "BACKUP"),
  }),
  { maxLength: 4, comparator: (one, other) => one.name === other.name || keyOf(one) === keyOf(other) },
);

function keyOf({ vhid, vip }: Pick<VrrpInterface, "vhid" | "vip">): string {
  return `${vhid} ${vip}`;
}

function reportsOf(interfaces: readonly Partial<VrrpInterface>[]): Reports {
  const reports = interfaces.map((each): GroupReport => {
    const { name, device, vhid, vip, state, aliases = [] } = interfaceOf(each);
    const known = {
      areAddressesKnown: true,
      priority: 100,
      isFailoverMaster: false,
      isDemoted: false,
      restraint: undefined,
    };
    const isMaster = state === "MASTER";
    const role = isMaster ? "master" : "backup";
    return { name, device, vhid, vip, addresses: [vip, ...aliases], role, state, isMaster, ...known };
  });
  return groupBy(reports, keyOf);
}

/** The same interfaces with other names, and without devices. */
function renamed(interfaces: readonly Partial<VrrpInterface>[]): readonly Partial<VrrpInterface>[] {
  return interfaces.map((each, nth) => ({ ...each, name: `${nth}`, device: "" }));
}

test("without links, names and devices of interfaces mean nothing", () => {
  fc.assert(
    fc.property(fc.tuple(plainInterfaces, plainInterfaces, plainInterfaces), (all) => {
      const named = groupNames({ reports: all.map(reportsOf) });
      expect(named).toEqual(groupNames({ reports: all.map((own) => reportsOf(renamed(own))) }));
      expect(named.filter(({ interface: name, isOneLink }) => name !== "" || !isOneLink)).toEqual([]);
    }),
  );
});
