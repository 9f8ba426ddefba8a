import type { ClusterSnapshot } from "../fleet/snapshot.ts";
import type { MaintenanceWindow } from "../maintenance/window.ts";
import type { Instant } from "../../support/clock.ts";
import { isEqual, kept, once } from "../../support/kept.ts";
import { cachedAppliance, judgeCluster } from "./judge-appliance.ts";
import { flappingVerdict } from "./flapping.ts";
import { groupsChangeAtMs, groupVerdicts } from "./judge-group.ts";
import { isEmpty, type Remembered } from "./memory.ts";
import { windowVerdict } from "./judge-windows.ts";
import { plannedProblems, problemsIn } from "./problems.ts";
import type { ApplianceProblem } from "./states.ts";
import { subjectKeys } from "./subjects.ts";
import {
  arePolled,
  sinceOf,
  type ApplianceVerdict,
  type CachedInputs,
  type Case,
  type ClusterVerdict,
  type WindowVerdict,
} from "./verdict.ts";
import { readinessVerdicts } from "./readiness.ts";
import { websiteVerdicts } from "./websites.ts";

/**
 * Returns the verdict on a cluster at an instant. `before` is the latest verdict, which remembers the beginnings of states. `memory` is
 * what an earlier run knew. `windows` are those of planned work on a part of the cluster.
 */
export function judge(
  facts: ClusterSnapshot,
  before: ClusterVerdict | undefined,
  at: Instant,
  given: JudgeOptions = {},
): ClusterVerdict {
  const { windows = [] } = given;
  const verdict = judgeFacts(facts, before, at, given);
  const planned =
    before !== undefined && areWindowsAsBefore(verdict, before, windows, at)
      ? before.planned
      : kept(before?.planned, windowVerdictAfter(verdict, before, at, given));
  return planned === verdict.planned ? verdict : { ...verdict, planned };
}

/** Whether nothing changed on which the verdict on windows depends. Most polls find nothing new. */
function areWindowsAsBefore(
  now: ClusterVerdict,
  before: ClusterVerdict,
  windows: readonly MaintenanceWindow[],
  { wallMs }: Instant,
): boolean {
  const { planned } = before;
  if (planned === undefined) return windows.length === 0;
  // All states follow from `cachedInputs`, but for groups that change with time.
  const isSame =
    before.cachedInputs === now.cachedInputs &&
    before.groups === now.groups &&
    before.appliances === now.appliances &&
    before.flapping === now.flapping;
  return isSame && wallMs < planned.untilMs && isEqual(planned.allWindows, windows);
}

function windowVerdictAfter(
  verdict: ClusterVerdict,
  before: ClusterVerdict | undefined,
  at: Instant,
  { windows = [], memory }: JudgeOptions,
): WindowVerdict | undefined {
  const problemsBefore = before === undefined ? [] : plannedProblems(before);
  return windowVerdict({
    verdict,
    problems: problemsIn(verdict),
    problemsBefore,
    windows,
    before,
    memory,
    at,
  });
}

interface JudgeOptions extends Partial<Pick<Case, "memory">> {
  readonly windows?: readonly MaintenanceWindow[] | undefined;
}

function judgeFacts(
  facts: ClusterSnapshot,
  before: ClusterVerdict | undefined,
  at: Instant,
  { memory }: JudgeOptions,
): ClusterVerdict {
  const cachedInputs = kept(before?.cachedInputs, cachedInputsOf(facts, at));
  if (cachedInputs === before?.cachedInputs && isEmpty(memory) && at.monotonicMs < changesAtMs(before))
    return facts === before.facts ? before : { ...before, facts };
  const hadMembers = before !== undefined && before.cachedInputs.appliances.length > 0;
  const wasPolled = hadMembers && arePolled(before.cachedInputs);
  const given = { cachedInputs, before, wasPolled, at, memory };
  const appliances = applianceVerdicts(given);
  const groups = groupVerdicts(given, appliances);
  const state = judgeCluster(Array.from(appliances.values(), (each) => each.state));
  const websites = websiteVerdicts({ cachedInputs, before, wasPolled, at, memory, state, groups });
  const readiness = readinessVerdicts({ cachedInputs, before, wasPolled, at, memory, groups, websites });
  return {
    kind: "cluster",
    facts,
    cachedInputs,
    state,
    appliances,
    groups,
    websites,
    readiness,
    flapping: flappingVerdict(given),
    planned: before?.planned,
  };
}

function cachedInputsOf(facts: ClusterSnapshot, { wallMs }: Instant): CachedInputs {
  const { cluster, labels, disabled, groups, websites } = facts;
  const isAlone = groups.length === 0;
  const appliances = facts.appliances.map((each) => cachedAppliance(each, isAlone, wallMs));
  return { cluster, labels, appliances, disabled, groups, websites };
}

/** Returns the monotonic instant at which time alone changes a verdict; infinite if time alone changes nothing. */
export function changesAtMs({ appliances, groups, flapping }: ClusterVerdict): number {
  const { endsMs = Number.POSITIVE_INFINITY } = flapping ?? {};
  return Math.min(endsMs, groupsChangeAtMs(groups), appliancesChangeAtMs(appliances));
}

const appliancesChangeAtMs = once((appliances: ClusterVerdict["appliances"]) =>
  Math.min(...Array.from(appliances.values(), ({ heldUntilMs = Number.POSITIVE_INFINITY }) => heldUntilMs)),
);

/** An appliance that times out and refuses by turns is down: it stays down for so long from its first refusal on. */
const DOWN_LASTS_MS = 120_000;

/** Returns the instant until which an appliance that refuses the exporter is still down, since it was; `undefined` if it is not. */
function downUntilMs(
  before: ApplianceVerdict | undefined,
  remembered: Remembered | undefined,
  state: ApplianceVerdict["state"],
  { monotonicMs }: Instant,
): number | undefined {
  const { state: earlier = remembered?.state, heldUntilMs = monotonicMs + DOWN_LASTS_MS } = before ?? {};
  if (state !== "refused" || earlier !== "down") return undefined;
  return heldUntilMs > monotonicMs ? heldUntilMs : undefined;
}

function asDown(kind: ApplianceProblem): ApplianceProblem {
  return kind === "appliance_refused" ? "appliance_down" : kind;
}

function applianceVerdicts({
  cachedInputs: { appliances },
  before,
  at,
  memory,
}: Case): ClusterVerdict["appliances"] {
  const polled = before?.cachedInputs.appliances.filter(({ state }) => state !== undefined) ?? [];
  const names = new Set(polled.map(({ identity }) => identity.appliance));
  const verdicts = appliances.map(
    ({ identity, state: polledState, certificate, problems }): ApplianceVerdict => {
      const old = before?.appliances.get(identity.appliance);
      const remembered = memory?.get(subjectKeys.appliance(identity.appliance));
      const sawBeginning = remembered === undefined && names.has(identity.appliance);
      const heldUntilMs = downUntilMs(old, remembered, polledState, at);
      const isHeld = heldUntilMs !== undefined;
      const state = isHeld ? "down" : polledState;
      const sinceMs = state && sinceOf(remembered ?? old, state, sawBeginning, at);
      const found = isHeld ? problems.map(asDown) : problems;
      const judged = { kind: "appliance", identity, state, sinceMs, certificate, problems: found } as const;
      return kept(old, isHeld ? { ...judged, heldUntilMs } : judged);
    },
  );
  const now = new Map(verdicts.map((each) => [each.identity.appliance, each]));
  return kept(before?.appliances, now);
}
