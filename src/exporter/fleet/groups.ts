import { isKnownState } from "../api/vrrp.ts";
import { kept } from "../../support/kept.ts";
import type { GroupNames } from "./group-names.ts";
import { membersIn, preferredIn, type GroupSnapshot, type MemberSnapshot } from "./snapshot.ts";
import { masterChanges, type Answers } from "./answers.ts";
import { STRONGEST_FIRST, type GroupReport, type VrrpFacts } from "./vrrp.ts";

/** The VRRP groups of one cluster, and the inputs from which they follow besides the instants of polls. */
interface Grouping {
  readonly groups: readonly GroupSnapshot[];
  readonly inputs: readonly unknown[];
}

/**
 * Returns the groups of a cluster. A group that is as it was `before` is the same object, and so is the list if all groups are. Most polls
 * find nothing new: once every member was polled since the latest change, later equal answers change nothing.
 */
export function groupsOf(
  { names, members }: { readonly names: readonly GroupNames[]; readonly members: readonly VrrpFacts[] },
  before?: Grouping,
): Grouping {
  // If an appliance's answer differs, `answersByKey` is another map; the names follow from the answers of all appliances.
  const inputs = members.flatMap(({ seen, silentSinceMs }) => [seen?.answersByKey, silentSinceMs]);
  const isSame =
    before?.inputs.length === inputs.length && before.inputs.every((each, nth) => each === inputs[nth]);
  if (isSame && before.groups.every(isSettled)) return before;
  const known = new Map(before?.groups.map((group) => [group.key, group]));
  const groups = names.map((group) => kept(known.get(group.key), groupOf(group, members)));
  return { groups: kept(before?.groups, groups), inputs };
}

/** Whether later equal answers change nothing of a group. */
function isSettled({ members, rivals, notPolledSince }: GroupSnapshot): boolean {
  return rivals.length === 0 && notPolledSince.length === 0 && !members.some(hasUnreadInterfaces);
}

function hasUnreadInterfaces({ role, silentSinceMs }: MemberSnapshot): boolean {
  return role === "unknown" && silentSinceMs === undefined;
}

/** A member as a part of one group, or as its rival. Instants are monotonic. */
interface MemberView {
  readonly member: MemberSnapshot;
  /** The report; `undefined` for an appliance that was never seen. */
  readonly report: GroupReport | undefined;
  /** The beginning of the member's latest poll; in a group that flaps, of the poll before. The member's answers are the same since then. */
  readonly sinceMs: number;
  readonly changedAtMs: number;
}

const NEVER = Number.NEGATIVE_INFINITY;
/** A member that became MASTER or stopped being MASTER three times within this time may do both between two polls. */
const FLAPPING_MS = 60_000;

function viewsOf(
  { identity: { appliance }, seen, silentSinceMs }: VrrpFacts,
  keys: readonly string[],
  answerLists: readonly Answers[],
  isFlapping: boolean,
): readonly MemberView[] {
  const reports = keys.flatMap((key) => seen?.reports.get(key) ?? []);
  const report = together(reports);
  if (seen !== undefined && report === undefined) return [];
  const role = silentSinceMs === undefined && report !== undefined ? report.role : "unknown";
  const interfaces = reports.map(({ name }) => name);
  const { addresses = [], areAddressesKnown = false } = report ?? {};
  const { priority, isFailoverMaster = false, state = "" } = report ?? {};
  const { isDemoted = false, restraint } = report ?? {};
  const said = { state, priority, isFailoverMaster, isDemoted, restraint };
  const reported = { interfaces, addresses, areAddressesKnown, ...said };
  const member = { appliance, role, silentSinceMs, answers: latestOf(answerLists), ...reported };
  const changes = answerLists.map((answers) => masterChanges(answers).changedAtMs);
  const sinceMs = (isFlapping ? seen?.sentBeforeMs : seen?.polled.sentMs) ?? NEVER;
  return [{ member, report, sinceMs, changedAtMs: Math.max(NEVER, ...changes) }];
}

/** Returns the answers under each of these keys; mostly there is one key. */
function answerListsOf(seen: VrrpFacts["seen"], keys: readonly string[]): readonly Answers[] {
  const answerLists: Answers[] = [];
  // The loop is plain: an appliance may have a thousand groups, and each poll looks at those of all members.
  for (const key of keys) {
    const answers = seen?.answersByKey.get(key);
    if (answers !== undefined) answerLists.push(answers);
  }
  return answerLists;
}

/**
 * Returns the answers under the key of the latest one. A member lists a group under one key, unless its addresses came into another order
 * or it has two interfaces in the group.
 */
function latestOf(answerLists: readonly Answers[]): Answers {
  const listed = answerLists.filter((answers) => answers.at(-1)?.role !== "absent");
  const [first = [], ...others] = listed.length > 0 ? listed : answerLists;
  return others.reduce((latest, each) => (beganMs(each) > beganMs(latest) ? each : latest), first);
}

function beganMs(answers: Answers): number {
  return answers.at(-1)?.first.endedMs ?? NEVER;
}

/** Returns one report for all interfaces of an appliance in one group. */
function together(all: readonly GroupReport[]): GroupReport | undefined {
  const [first, ...others] = all;
  if (first === undefined || others.length === 0) return first;
  const roles = new Set(all.map(({ role }) => role));
  const priorities = all.flatMap(({ priority }) => priority ?? []);
  return {
    ...first,
    role: STRONGEST_FIRST.find((role) => roles.has(role)) ?? "unknown",
    state: all.find(({ state }) => !isKnownState(state))?.state ?? first.state,
    isMaster: all.some(({ isMaster }) => isMaster),
    priority: priorities.length === 0 ? undefined : Math.max(...priorities),
    isFailoverMaster: all.some(({ isFailoverMaster }) => isFailoverMaster),
    addresses: all.flatMap(({ addresses }) => addresses),
    areAddressesKnown: all.every(({ areAddressesKnown }) => areAddressesKnown),
  };
}

function groupOf(
  { key, vhid, vip, interface: name, isOneLink, keys, rivals }: GroupNames,
  members: readonly VrrpFacts[],
): GroupSnapshot {
  const others = [...rivals].flatMap(([nth, other]) =>
    members.slice(nth, nth + 1).map((facts) => ({ facts, other })),
  );
  const answerLists = members.map(({ seen }, nth) => answerListsOf(seen, keys[nth] ?? []));
  const rivalAnswerLists = others.map(({ facts: { seen }, other }) => answerListsOf(seen, [other]));
  // Members that have left the group count too.
  const changes = [...answerLists, ...rivalAnswerLists].flat().map(masterChanges);
  const latestMs = Math.max(...changes.map(({ changedAtMs }) => changedAtMs));
  const thirdLastMs = Math.max(...changes.map(({ masterChangedAtMs }) => masterChangedAtMs.at(-3) ?? NEVER));
  const isFlapping = latestMs - thirdLastMs < FLAPPING_MS;
  const views = members.flatMap((facts, nth) =>
    viewsOf(facts, keys[nth] ?? [], answerLists[nth] ?? [], isFlapping),
  );
  const known = views.map(({ member }) => member);
  const masters = membersIn({ members: known }, "master");
  const rivalViews = others
    .flatMap(({ facts, other }, nth) => viewsOf(facts, [other], rivalAnswerLists[nth] ?? [], isFlapping))
    .filter(({ member }) => masters.length > 0 && !masters.includes(member.appliance));
  const late = views.filter(({ member, sinceMs }) => member.role !== "unknown" && sinceMs <= latestMs);
  const addresses = views.flatMap(({ report }) => report?.addresses ?? []);
  return {
    key,
    vhid,
    vip,
    interface: name,
    isOneLink,
    aliases: [...new Set(addresses)].filter((address) => address !== vip),
    members: known,
    rivals: rivalViews.map(({ member }) => member),
    left: members.flatMap((facts, nth) => leaving(facts, keys[nth] ?? [], answerLists[nth] ?? [])),
    mastersAtOnce: mastersAtOnce([...views, ...rivalViews]),
    notPolledSince: late.map(({ member }) => member.appliance),
    isPreferredMaster: preferredMaster(known),
  };
}

/** @see GroupSnapshot.left */
function leaving(
  { identity: { appliance }, seen }: VrrpFacts,
  keys: readonly string[],
  answerLists: readonly Answers[],
): GroupSnapshot["left"] {
  const isLeft = answerLists.length > 0 && !keys.some((key) => seen?.reports.has(key));
  return isLeft ? [{ appliance, answers: latestOf(answerLists) }] : [];
}

/** @see GroupSnapshot.mastersAtOnce */
function mastersAtOnce(views: readonly MemberView[]): readonly string[] {
  const masters = views.filter(({ report }) => report?.isMaster === true);
  const wereAtOnce = (one: MemberView, other: MemberView): boolean =>
    Math.min(one.sinceMs, other.sinceMs) > Math.max(one.changedAtMs, other.changedAtMs);
  return masters
    .filter((one) => masters.some((other) => one !== other && wereAtOnce(one, other)))
    .map(({ member }) => member.appliance);
}

/** @see GroupSnapshot.isPreferredMaster */
function preferredMaster(members: readonly MemberSnapshot[]): boolean | undefined {
  const [master, ...others] = members.filter(({ role }) => role === "master");
  if (master === undefined || others.length > 0) return undefined;
  const isByRole = members.filter(({ isFailoverMaster }) => isFailoverMaster).length === 1;
  const isDemoted = members.some((member) => member.isDemoted);
  if (!isByRole && (isDemoted || master.priority === undefined)) return undefined;
  return preferredIn({ members }).includes(master.appliance);
}
