import { hostAt, type GroupSnapshot, type MemberSnapshot } from "../fleet/snapshot.ts";
import { groupBy } from "../../support/group-by.ts";
import { once } from "../../support/kept.ts";
import { isKnownState } from "../api/vrrp.ts";
import { RISKS, type GroupState, type RiskKind } from "./states.ts";
import type { ClusterVerdict, GroupVerdict, Risk } from "./verdict.ts";
import { addressName } from "./words.ts";

/** Returns a risk; `counts` says whether the successor would take over. */
export function riskOf(risk: RiskKind, of: Omit<Risk, "risk" | "effect">, counts = true): Risk {
  return { risk, effect: counts ? RISKS[risk] : "none", ...of };
}

/** The part of the groups that a BACKUP would take over. */
export interface TakenOver {
  /** Whether no other BACKUP of one of the groups has a higher priority. */
  readonly counts: boolean;
  readonly addresses: readonly string[];
}

interface Successor extends Pick<TakenOver, "counts"> {
  readonly name: string;
}

/** A group of which an appliance is MASTER: its addresses there, and the BACKUPs of the group. */
interface MasteredGroup {
  readonly facts: GroupSnapshot;
  readonly addresses: readonly string[];
  readonly successors: readonly Successor[];
}

/** The readiness for the groups of an appliance that stops. */
export interface GroupReadiness {
  readonly risks: readonly Risk[];
  /** The number of addresses; a link-local one counts on each link. */
  readonly addresses: number;
  readonly byAddress: ReadonlyMap<string, readonly Successor[]>;
  /** The keys are the names of the BACKUPs. */
  readonly everywhere: ReadonlyMap<string, TakenOver>;
}

export interface GroupsReadiness {
  readonly byMaster: ReadonlyMap<string, GroupReadiness>;
  /** All addresses of the groups. */
  readonly addresses: ReadonlySet<string>;
}

/** In these states nobody knows who is MASTER. */
const UNDECIDED: ReadonlySet<GroupState> = new Set(["split_brain", "changing", "unknown", "unwatched"]);

/** A group, and the member that is its MASTER and would stop. */
interface Stopping {
  readonly group: GroupVerdict;
  readonly own: MemberSnapshot;
}

/** Returns the readiness for a cluster's groups, by the MASTER that would stop. */
export const groupsReadinessIn = once((groups: ClusterVerdict["groups"]): GroupsReadiness => {
  const all = [...groups.values()];
  const stopping = groupBy(
    all.flatMap((group) =>
      group.facts.members.filter(({ role }) => role === "master").map((own): Stopping => ({ group, own })),
    ),
    ({ own }) => own.appliance,
  );
  const byMaster = Array.from(stopping, ([name, mine]) => {
    const found = mine.map((each) => readinessOf(each, mine));
    // The MASTER of one group may soon become MASTER of another.
    const undecided = all.flatMap(({ facts, state }) =>
      state !== undefined && UNDECIDED.has(state) && isOtherThanMaster(facts, name)
        ? riskOf("undecided", subjectIn(facts))
        : [],
    );
    const risks = [...found.flatMap((each) => each.risks), ...undecided];
    return [
      name,
      joined(
        risks,
        found.map(({ masteredGroup }) => masteredGroup),
      ),
    ] as const;
  });
  const addresses = all.flatMap(({ facts: { vip, aliases } }) => [vip, ...aliases]);
  return { byMaster: new Map(byMaster), addresses: new Set(addresses) };
});

function isOtherThanMaster({ members }: GroupSnapshot, name: string): boolean {
  return members.some(({ appliance, role }) => appliance === name && role !== "master");
}

function joined(risks: readonly Risk[], masteredGroups: readonly MasteredGroup[]): GroupReadiness {
  const byAddress = new Map<string, readonly Successor[]>();
  for (const { successors, addresses } of masteredGroups)
    for (const address of addresses) byAddress.set(address, together(byAddress.get(address), successors));
  const hosts = new Set(
    masteredGroups.flatMap(({ facts, addresses }) => addresses.map((each) => hostAt(facts, each))),
  );
  return { risks, addresses: hosts.size, byAddress, everywhere: takenOverBy(masteredGroups) };
}

/** Joins the successors of an address that is in several groups. An appliance may have the same address in hundreds of groups. */
function together(known: readonly Successor[] | undefined, more: readonly Successor[]): readonly Successor[] {
  if (known === undefined) return more;
  const isKnown = ({ name, counts }: Successor) =>
    known.some((each) => each.name === name && (each.counts || !counts));
  const others = more.filter((each) => !isKnown(each));
  return others.length === 0 ? known : [...known, ...others];
}

/** Returns the BACKUPs of these groups, each with the addresses that it would take over. A BACKUP that would take over none has all. */
function takenOverBy(
  masteredGroups: readonly Omit<MasteredGroup, "facts">[],
): ReadonlyMap<string, TakenOver> {
  const all = new Map<string, TakenOver & { readonly addresses: string[] }>();
  for (const { successors, addresses } of masteredGroups)
    for (const { name, counts } of successors) {
      const known = all.get(name);
      if (known === undefined || (counts && !known.counts))
        all.set(name, { counts, addresses: [...addresses] });
      else if (counts === known.counts) known.addresses.push(...addresses);
    }
  return all;
}

function subjectIn(group: GroupSnapshot): Pick<Risk, "successor" | "subject" | "key"> {
  return { successor: "", subject: addressName(group.vip, group), key: group.key };
}

/** A BACKUP; `counts` says that no other one of the group takes over before it. */
interface Backup extends Pick<TakenOver, "counts"> {
  readonly member: MemberSnapshot;
}

function backupsIn({ members }: GroupSnapshot): readonly Backup[] {
  const backups = members.filter(({ role }) => role === "backup");
  const willing = backups.filter(({ restraint }) => restraint === undefined);
  const contending = new Set(willing.length > 0 ? willing : backups);
  const highest = highestIn([...contending]);
  return backups.map((member) => {
    return { member, counts: contending.has(member) && (member.priority ?? highest) === highest };
  });
}

function highestIn(backups: readonly MemberSnapshot[]): number {
  return Math.max(...backups.map(({ priority = 0 }) => priority));
}

/** Whether it is not known what a member would do: its role is not known now, or it reports a state that nobody knows. */
export function mayTakeOver({ role, state }: MemberSnapshot): boolean {
  return role === "unknown" || (role === "other" && !isKnownState(state));
}

/** The hosts that each successor would have if the MASTER of these groups stopped. */
const hostsTakenOver = once((stopping: readonly Stopping[]): ReadonlyMap<string, ReadonlySet<string>> => {
  const moving = stopping.flatMap(({ group: { facts, state } }) =>
    state !== undefined && UNDECIDED.has(state) ? [] : facts,
  );
  const taken = moving.flatMap((facts) => {
    const [successor, ...others] = backupsIn(facts).filter(({ counts }) => counts);
    // Each of several may win one group and lose the other.
    return successor === undefined || others.length > 0 ? [] : { facts, ...successor.member };
  });
  const hosts = Array.from(
    groupBy(taken, ({ appliance }) => appliance),
    ([name, all]) => {
      const own = all.flatMap(({ facts, addresses }) => addresses.map((each) => hostAt(facts, each)));
      return [name, new Set(own)] as const;
    },
  );
  return new Map(hosts);
});

/** Returns the readiness for one group whose MASTER stops, one of those that stop with it. */
function readinessOf(
  { group: { facts, state, isLasting }, own }: Stopping,
  stopping: readonly Stopping[],
): { readonly risks: readonly Risk[]; readonly masteredGroup: MasteredGroup } {
  const alone = (risk: RiskKind) => {
    return {
      risks: [riskOf(risk, subjectIn(facts))],
      masteredGroup: { facts, addresses: own.addresses, successors: [] },
    };
  };
  const isLost = state === "no_backup" || state === "backup_lost";
  if (isLost && !isLasting && !facts.members.some((each) => each.role === "other" && mayTakeOver(each)))
    return alone(state);
  // The other members were not polled yet, or nobody knows what they would do.
  if (isLost || state === "backup_unknown" || state === undefined) return alone("backup_unknown");
  if (UNDECIDED.has(state)) return alone("undecided");
  const backups = backupsIn(facts);
  const first = backups.filter(({ counts }) => counts).map(({ member }) => member);
  const highest = highestIn(first);
  const isTie = first.filter(({ priority }) => priority === highest).length > 1;
  const isDoubtful = facts.members.some(mayTakeOver);
  const isAnyWilling = first.some(({ restraint }) => restraint === undefined);
  const risks = backups.flatMap(({ member, counts }) =>
    backupRisks(facts, own, member, {
      counts,
      isDoubtful,
      isTie: counts && member.priority === highest && isTie,
      hosts: () => hostsTakenOver(stopping).get(member.appliance),
    }),
  );
  const isPreferred = facts.members.filter(({ isFailoverMaster }) => isFailoverMaster).length > 1;
  const preferred = isPreferred ? [riskOf("two_preferred", subjectIn(facts))] : [];
  // A member whose role is not known now may still take over, whatever its priority if no BACKUP would.
  const doubtful = facts.members.flatMap((member) =>
    mayTakeOver(member) && (!isAnyWilling || (member.priority ?? highest) >= highest)
      ? riskOf("backup_unknown", { ...subjectIn(facts), successor: member.appliance })
      : [],
  );
  const successors = backups.map(({ member: { appliance, restraint }, counts }) => {
    return { name: appliance, counts: counts && restraint === undefined };
  });
  return {
    risks: [...risks, ...preferred, ...doubtful],
    masteredGroup: { facts, addresses: own.addresses, successors },
  };
}

interface BackupCase extends Pick<TakenOver, "counts"> {
  /** Whether a member that is no BACKUP may take over. */
  readonly isDoubtful: boolean;
  /** Whether another BACKUP has the same priority. */
  readonly isTie: boolean;
  /** Returns the hosts that the BACKUP takes over with all groups. */
  readonly hosts: () => ReadonlySet<string> | undefined;
}

/** Returns the risks of a group with one of its BACKUPs. An address that comes to the BACKUP with another group is not missing. */
function backupRisks(
  facts: GroupSnapshot,
  own: MemberSnapshot,
  backup: MemberSnapshot,
  { counts, isDoubtful, isTie, hosts }: BackupCase,
): readonly Risk[] {
  const { appliance: successor, addresses, priority, restraint } = backup;
  const at = { ...subjectIn(facts), successor };
  if (restraint !== undefined) return [riskOf("takes_nothing_over", at, counts && !isDoubtful)];
  const isKnown = own.areAddressesKnown && backup.areAddressesKnown;
  const there = new Set(addresses);
  const lacking = isKnown ? own.addresses.filter((address) => !there.has(address)) : [];
  const missing = lacking.filter((address) => hosts()?.has(hostAt(facts, address)) !== true);
  const isEqual = isTie || (priority !== undefined && priority === own.priority);
  return [
    ...(isKnown ? [] : [riskOf("address_unknown", at, counts)]),
    ...missing.map((address) =>
      riskOf("address_missing", { ...at, subject: addressName(address, facts) }, counts),
    ),
    ...(isEqual ? [riskOf("same_priority", at, counts)] : []),
  ];
}

/**
 * Returns the appliances that would take over the addresses at which visitors reach a website, which listens on `bind`; `undefined` if
 * there are no such addresses.
 */
export function takenOverAt(
  bind: readonly string[],
  { byAddress, everywhere }: GroupReadiness,
  addresses: GroupsReadiness["addresses"],
): ReadonlyMap<string, TakenOver> | undefined {
  if (bind.length === 0) return everywhere;
  const own = bind.flatMap((address) => {
    const successors = byAddress.get(address);
    return successors === undefined ? [] : { successors, addresses: [address] };
  });
  if (own.length > 0) return takenOverBy(own);
  if (bind.some((address) => addresses.has(address))) return undefined;
  // The website listens on addresses that do not move, so the receiver of its requests is not known.
  return new Map(Array.from(everywhere, ([name, each]) => [name, { ...each, addresses: [] }]));
}
