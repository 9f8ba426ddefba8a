import type { ClusterSnapshot, GroupSnapshot } from "../fleet/snapshot.ts";
import { kept, once } from "../support/kept.ts";
import { applianceProblems, judgeAppliance, judgeCertificate, judgeCluster } from "./judge-appliance.ts";
import { groupChangesAtMs, judgeGroup, masterIn } from "./judge-group.ts";
import { PROBLEM_OF, type GroupState } from "./states.ts";
import {
  type ApplianceVerdict,
  type Case,
  type ClusterVerdict,
  type GroupVerdict,
  type Instant,
  sinceOf,
  type Trouble,
} from "./verdict.ts";
import { websiteVerdicts } from "./websites.ts";

/** Returns the verdict about a cluster at an instant; `before`: the latest one, which remembers since when states last. */
export function judge(
  facts: ClusterSnapshot,
  before: ClusterVerdict | undefined,
  at: Instant,
): ClusterVerdict {
  const isTimeless = before !== undefined && at.monotonicMs < changesAtMs(before);
  if (isTimeless && before.facts === facts && isValid(before, at)) return before;
  const wasPolled =
    before?.facts.appliances.every(({ vrrp }) => vrrp.health.state !== "never_polled") === true;
  const given = { facts, before, wasPolled, at };
  const appliances = applianceVerdicts(given);
  const groups = groupVerdicts(given, appliances);
  const { websites, differences } = websiteVerdicts({ ...given, groups });
  const state = judgeCluster(Array.from(appliances.values(), (each) => each.state));
  return { kind: "cluster", facts, state, appliances, groups, websites, differences };
}

/** The monotonic instant at which time alone changes the state of a group; infinite if it does not. */
export const changesAtMs = once(({ groups }: ClusterVerdict) =>
  Math.min(...Array.from(groups.values(), ({ facts, state }) => groupChangesAtMs(facts, state))),
);

/** Returns whether the certificates are in the same state as before. */
function isValid({ facts, appliances }: ClusterVerdict, { wallMs }: Instant): boolean {
  return facts.appliances.every(
    ({ identity, vrrp }) =>
      judgeCertificate(vrrp.certificate, wallMs) === appliances.get(identity.appliance)?.certificate,
  );
}

function applianceVerdicts({ facts, before, at }: Case): ClusterVerdict["appliances"] {
  const isAlone = facts.groups.length === 0;
  const verdicts = facts.appliances.map((appliance): ApplianceVerdict => {
    const { identity, vrrp } = appliance;
    const old = before?.appliances.get(identity.appliance);
    const state = judgeAppliance(vrrp.health);
    const sinceMs = sinceOf(old, state, old?.state !== undefined, at);
    const certificate = judgeCertificate(vrrp.certificate, at.wallMs);
    const problems = applianceProblems(appliance, { state, certificate }, isAlone);
    return kept(old, { kind: "appliance", identity, state, sinceMs, certificate, problems });
  });
  const now = new Map(verdicts.map((each) => [each.identity.appliance, each]));
  return kept(before?.appliances, now);
}

function groupVerdicts(given: Case, appliances: ClusterVerdict["appliances"]): ClusterVerdict["groups"] {
  const { facts, before } = given;
  // Another configuration has other labels.
  const isAsBefore =
    facts.groups === before?.facts.groups &&
    facts.labels === before.facts.labels &&
    appliances === before.appliances;
  if (isAsBefore && given.at.monotonicMs < changesAtMs(before)) return before.groups;
  const groups = facts.groups.map((group) => [group.key, groupVerdict(group, given, appliances)] as const);
  return kept(before?.groups, new Map(groups));
}

function groupVerdict(
  group: GroupSnapshot,
  { facts: { cluster, labels, disabled }, before, wasPolled, at }: Case,
  appliances: ClusterVerdict["appliances"],
): GroupVerdict {
  const old = before?.groups.get(group.key);
  const stateOf = (name: string) => appliances.get(name)?.state;
  const hasDisabled = disabled.length > 0;
  const state = judgeGroup(group, { hasDisabled, stateOf, nowMs: at.monotonicMs });
  const master = masterIn(group, state);
  // A change that was in progress when polling began may have begun earlier.
  const sawBeginning = wasPolled && !(old?.state === "changing" && old.sinceMs === undefined);
  const sinceMs = sinceOf(old?.master === master ? old : undefined, state, sawBeginning, at);
  const latestMaster = master ?? old?.latestMaster;
  const trouble = troubleAfter(old?.trouble, state);
  const isElsewhere = state === "one_master" && group.isPreferredMaster === false;
  const problem: GroupVerdict["problem"] = isElsewhere
    ? "preferred_master_lost"
    : state && PROBLEM_OF.group[state];
  const judged = { state, problem, master, sinceMs, latestMaster, trouble };
  return kept(old, { kind: "group", cluster, labels, facts: group, ...judged });
}

function troubleAfter(before: Trouble | undefined, state: GroupState | undefined): Trouble | undefined {
  if (state === "split_brain" || state === "no_master" || state === "no_backup") return state;
  const isMasterKnown = state === "backup_unknown" || state === "backup_lost";
  const isOver = state === "one_master" || (isMasterKnown && before !== "no_backup");
  return isOver ? undefined : before;
}
