import { groupKey, type GroupIdentity, type GroupSnapshot, type MemberSnapshot } from "../fleet/snapshot.ts";
import { arePolled, type Case, type ClusterVerdict } from "./verdict.ts";

/**
 * Returns the groups that an earlier run knew, and that nobody lists since the start, although a member that was not read since then may:
 * nothing is known of them. They begin when every member was polled, as the first answers may list them, and go when each was read.
 */
export function rememberedGroups({ cachedInputs, before, memory }: Case): readonly GroupSnapshot[] {
  const { appliances, disabled, groups } = cachedInputs;
  const unread = appliances.flatMap(({ identity, isRead }) => (isRead ? [] : identity.appliance));
  const isAlone = appliances.length + disabled.length < 2;
  if (unread.length === 0 || isAlone) return [];
  const remembered = arePolled(cachedInputs) ? [...(memory?.values() ?? [])] : [];
  const known = [...unlistedIn(before), ...remembered.flatMap(({ group }) => group ?? [])];
  const listed = known.length === 0 ? new Set() : new Set(groups.flatMap(placesOf));
  const left = known.filter((each) => !listed.has(placeOf(each.vhid, each.vip)));
  const byKey = new Map(left.map((each) => [groupKey(each), each]));
  return Array.from(byKey.values(), (each) => unlisted(each, unread));
}

/** Whether an appliance has listed the group since the start. */
export function wasListed({ members }: Pick<GroupSnapshot, "members">): boolean {
  return members.some(({ answers }) => answers.length > 0);
}

function unlistedIn(before: ClusterVerdict | undefined): readonly GroupIdentity[] {
  return Array.from(before?.groups.values() ?? [], ({ facts }) => facts).filter((each) => !wasListed(each));
}

/**
 * Returns where a group may have been earlier: its addresses may be in another order now, and its interface may have the name that another
 * member gives it.
 */
function placesOf({ vhid, vip, aliases }: GroupSnapshot): readonly string[] {
  return [vip, ...aliases].map((address) => placeOf(vhid, address));
}

function placeOf(vhid: number, address: string): string {
  return `${vhid} ${address}`;
}

function unlisted(
  { vhid, vip, interface: name = "" }: GroupIdentity,
  members: readonly string[],
): GroupSnapshot {
  const identity = { vhid, vip, interface: name };
  return {
    key: groupKey(identity),
    ...identity,
    isOneLink: true,
    aliases: [],
    members: members.map(unknownMember),
    rivals: [],
    left: [],
    mastersAtOnce: [],
    notPolledSince: [],
    isPreferredMaster: undefined,
  };
}

function unknownMember(appliance: string): MemberSnapshot {
  return {
    appliance,
    interfaces: [],
    addresses: [],
    areAddressesKnown: false,
    role: "unknown",
    state: "",
    priority: undefined,
    isFailoverMaster: false,
    isDemoted: false,
    restraint: undefined,
    silentSinceMs: undefined,
    answers: [],
  };
}
