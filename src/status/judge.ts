import type { ClusterSnapshot, GroupSnapshot } from "../fleet/snapshot.ts";
import { kept } from "../support/kept.ts";
import {
  sinceOf,
  type ApplianceVerdict,
  type Case,
  type ClusterVerdict,
  type GroupVerdict,
  type Instant,
  type Trouble,
} from "./verdict.ts";
import { judgeAppliance, judgeCluster } from "./verdicts/appliance.ts";
import { judgeGroup, masterIn, type GroupState } from "./verdicts/group.ts";
import { websiteVerdicts } from "./website-verdicts.ts";

/** What the facts about a cluster mean at an instant; `before`: the latest verdict about it, which remembers since when. */
export function judge(
  facts: ClusterSnapshot,
  before: ClusterVerdict | undefined,
  at: Instant,
): ClusterVerdict {
  const isTimeless = before && ![...before.groups.values()].some(({ state }) => state === "unknown");
  if (isTimeless === true && before?.facts === facts) return before;
  const wasPolled =
    before?.facts.appliances.every(({ vrrp }) => vrrp.health.state !== "never_polled") === true;
  const given = { facts, before, wasPolled, at };
  const appliances = applianceVerdicts(given);
  const groups = new Map(facts.groups.map((group) => [group.key, groupVerdict(group, given)]));
  const { websites, differences } = websiteVerdicts({ ...given, groups });
  return {
    kind: "cluster",
    facts,
    state: judgeCluster(Array.from(appliances.values(), ({ state }) => state)),
    appliances,
    groups,
    websites,
    differences,
  };
}

function applianceVerdicts({ facts, before, at }: Case): ClusterVerdict["appliances"] {
  const verdicts = facts.appliances.map(({ identity, vrrp }): ApplianceVerdict => {
    const old = before?.appliances.get(identity.appliance);
    const state = judgeAppliance(vrrp.health);
    const sinceMs = sinceOf(old, state, old?.state !== undefined, at);
    return kept(old, { kind: "appliance", identity, state, sinceMs });
  });
  return new Map(verdicts.map((each) => [each.identity.appliance, each]));
}

function groupVerdict(
  group: GroupSnapshot,
  { facts: { cluster, labels, hasDisabled }, before, wasPolled, at }: Case,
): GroupVerdict {
  const old = before?.groups.get(group.key);
  // Another configuration has other labels; with time alone, only what is unknown changes.
  if (old?.facts === group && old.labels === labels && old.state !== "unknown") return old;
  const state = judgeGroup(group, { hasDisabled, nowMs: at.monotonicMs });
  const master = masterIn(group, state);
  // A change that was in progress when polling began may have begun earlier.
  const sawBeginning = wasPolled && !(old?.state === "changing" && old.sinceMs === undefined);
  return kept(old, {
    kind: "group",
    cluster,
    labels,
    facts: group,
    state,
    master,
    sinceMs: sinceOf(old?.master === master ? old : undefined, state, sawBeginning, at),
    latestMaster: master ?? old?.latestMaster,
    trouble: troubleAfter(old?.trouble, state),
  });
}

function troubleAfter(before: Trouble | undefined, state: GroupState | undefined): Trouble | undefined {
  if (state === "split_brain" || state === "no_master" || state === "no_backup") return state;
  const isOver = state === "one_master" || (state === "backup_unknown" && before !== "no_backup");
  return isOver ? undefined : before;
}
