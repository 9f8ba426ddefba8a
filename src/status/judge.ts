import type { Protocol } from "../api/website-test.ts";
import {
  membersIn,
  type ApplianceSnapshot,
  type ClusterSnapshot,
  type FleetSnapshot,
  type GroupSnapshot,
  type Identity,
  type VrrpSnapshot,
  type WebsiteSnapshot,
} from "../fleet/snapshot.ts";
import {
  judgeAppliance,
  judgeCluster,
  type ApplianceState,
  type ClusterState,
} from "./verdicts/appliance.ts";
import { judgeGroup, masterIn, type GroupState } from "./verdicts/group.ts";
import { judgeWebsite, type WebsiteState } from "./verdicts/website.ts";

/** An instant by both clocks, in milliseconds. */
export interface Instant {
  /** Unix time, which jumps when somebody sets the clock. */
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/**
 * What the facts about a cluster mean. Each verdict is the same object for as long as it stays as it is. `sinceMs`: Unix
 * time at which the present state began; `undefined` where this process did not see the beginning.
 */
export interface ClusterVerdict {
  readonly facts: ClusterSnapshot;
  /** `undefined` before any poll. */
  readonly state: ClusterState | undefined;
  readonly appliances: readonly ApplianceVerdict[];
  readonly groups: readonly GroupVerdict[];
  /** One for each website and protocol; protocol `""` while none is known. */
  readonly websites: readonly WebsiteVerdict[];
}

export interface ApplianceVerdict {
  readonly kind: "appliance";
  readonly identity: Identity;
  /** `undefined` before the first poll. */
  readonly state: ApplianceState | undefined;
  readonly sinceMs: number | undefined;
}

/** What the series of a cluster carry. */
export type ClusterIdentity = Pick<ClusterSnapshot, "cluster" | "labels">;

export interface GroupVerdict extends ClusterIdentity {
  readonly facts: GroupSnapshot;
  /** `undefined` where a disabled appliance may be the master. */
  readonly state: GroupState | undefined;
  /** The one known master. */
  readonly master: string | undefined;
  /** Since when this state lasts under this master. */
  readonly sinceMs: number | undefined;
  /** The master, or the latest one. */
  readonly latestMaster: string | undefined;
  /** The latest state that is trouble, until another one proves that it is over. */
  readonly trouble: Trouble | undefined;
}

export type Trouble = Extract<GroupState, "split_brain" | "no_master" | "no_backup">;

export interface WebsiteVerdict extends ClusterIdentity {
  readonly kind: "website";
  readonly websiteId: number;
  readonly website: string;
  readonly protocol: Protocol | "";
  /** `undefined` before the first test ended, and where a disabled appliance may be the master. */
  readonly state: WebsiteState | undefined;
  readonly sinceMs: number | undefined;
}

/** A cluster before and after the facts about it have changed. */
export interface Judged {
  readonly before: ClusterVerdict | undefined;
  readonly now: ClusterVerdict;
}

/** Judges the facts about clusters, and remembers since when each verdict holds. */
export interface Judge {
  judge(facts: ClusterSnapshot, at: Instant): Judged;
  /** Judges all clusters, and forgets any other. */
  judgeAll(snapshot: FleetSnapshot, at: Instant): readonly Judged[];
}

export function createJudge(): Judge {
  let verdicts = new Map<string, ClusterVerdict>();
  const judge = (facts: ClusterSnapshot, at: Instant): Judged => {
    const before = verdicts.get(facts.cluster);
    if (before?.facts === facts && !before.groups.some(({ state }) => state === "unknown"))
      return { before, now: before };
    const now = clusterVerdict(facts, before, at);
    verdicts.set(facts.cluster, now);
    return { before, now };
  };
  return {
    judge,
    judgeAll: ({ clusters }, at) => {
      const judged = clusters.map((facts) => judge(facts, at));
      verdicts = new Map(judged.map(({ now }) => [now.facts.cluster, now]));
      return judged;
    },
  };
}

function clusterVerdict(
  facts: ClusterSnapshot,
  before: ClusterVerdict | undefined,
  at: Instant,
): ClusterVerdict {
  const appliances = applianceVerdicts(facts, before, at);
  const groups = groupVerdicts(facts, before, at);
  return {
    facts,
    state: judgeCluster(appliances.map(({ state }) => state)),
    appliances,
    groups,
    websites: websiteVerdicts(facts, mastersOf(groups), before, at),
  };
}

/** The known masters; of a group that is changing also the latest one, until the change is proven. */
function mastersOf(groups: readonly GroupVerdict[]): ReadonlySet<string> {
  return new Set(
    groups.flatMap(({ facts, state, latestMaster }) => [
      ...membersIn(facts, "master"),
      ...(state === "changing" && latestMaster !== undefined ? [latestMaster] : []),
    ]),
  );
}

const WITHOUT_MASTER: ReadonlySet<GroupVerdict["state"]> = new Set(["unknown", "no_master", "changing"]);

/** Whether a website of the cluster that is unknown is so because no appliance answers or a master is not known. */
export function hidesWebsites({ state, groups }: ClusterVerdict): boolean {
  return state === "dark" || state === "unknown" || groups.some((group) => WITHOUT_MASTER.has(group.state));
}

function applianceVerdicts(
  { appliances }: ClusterSnapshot,
  before: ClusterVerdict | undefined,
  at: Instant,
): readonly ApplianceVerdict[] {
  const known = new Map(before?.appliances.map((verdict) => [verdict.identity.appliance, verdict]));
  return appliances.map(({ identity, vrrp }) => {
    const old = known.get(identity.appliance);
    const state = judgeAppliance(vrrp.health);
    const sinceMs = sinceOf(old, state, old?.state !== undefined, at);
    return kept(old, { kind: "appliance", identity, state, sinceMs });
  });
}

function groupVerdicts(
  facts: ClusterSnapshot,
  before: ClusterVerdict | undefined,
  at: Instant,
): readonly GroupVerdict[] {
  const { cluster, labels, hasDisabled, groups } = facts;
  const known = new Map(before?.groups.map((verdict) => [verdict.facts.key, verdict]));
  const wasSeen = before?.facts.appliances.every(({ vrrp }) => isPolled(vrrp)) === true;
  const isSame = (old: GroupVerdict, group: GroupSnapshot): boolean =>
    old.facts === group &&
    old.labels === labels &&
    old.state !== "unknown" &&
    before?.facts.hasDisabled === hasDisabled;
  return groups.map((group) => {
    const old = known.get(group.key);
    if (old !== undefined && isSame(old, group)) return old;
    const state = judgeGroup(group, { hasDisabled, nowMs: at.monotonicMs });
    const master = masterIn(group, state);
    // What is changing since the first sight may have begun before it.
    const sawBeginning = wasSeen && !(old?.state === "changing" && old.sinceMs === undefined);
    const sinceMs =
      old?.master === master ? sinceOf(old, state, sawBeginning, at) : sawBeginning ? at.wallMs : undefined;
    return kept(old, {
      cluster,
      labels,
      facts: group,
      state,
      master,
      sinceMs,
      latestMaster: master ?? old?.latestMaster,
      trouble: troubleAfter(old?.trouble, state),
    });
  });
}

function troubleAfter(before: Trouble | undefined, state: GroupState | undefined): Trouble | undefined {
  switch (state) {
    case "split_brain":
    case "no_master":
    case "no_backup":
      return state;
    case "one_master":
      return undefined;
    case "backup_unknown":
      return before === "no_backup" ? before : undefined;
    case "unknown":
    case "changing":
    case undefined:
      return before;
    default:
      return state satisfies never;
  }
}

/** A website's test by one appliance. */
interface Test {
  readonly appliance: string;
  readonly website: WebsiteSnapshot;
}

function websiteVerdicts(
  facts: ClusterSnapshot,
  masters: ReadonlySet<string>,
  before: ClusterVerdict | undefined,
  at: Instant,
): readonly WebsiteVerdict[] {
  const { cluster, labels, appliances } = facts;
  const keyOf = ({ websiteId, protocol }: Pick<WebsiteVerdict, "websiteId" | "protocol">): string =>
    `${websiteId} ${protocol}`;
  const known = new Map(before?.websites.map((verdict) => [keyOf(verdict), verdict]));
  const wasSeen = before?.facts.appliances.every(({ vrrp }) => isPolled(vrrp)) === true;
  const context = { hasGroups: facts.groups.length > 0, hasDisabled: facts.hasDisabled };
  return [...testsOf(appliances)].flatMap(([websiteId, tests]) => {
    const website = [...new Set(tests.map((test) => test.website.website))].join(" / ");
    return protocolsOf(tests).map((protocol) => {
      const old = known.get(keyOf({ websiteId, protocol }));
      const isTested = tests.some((test) => isPolled(test.website));
      const views = tests.flatMap((test) => viewOf(test, protocol, masters));
      const state = isTested ? judgeWebsite(views, context) : undefined;
      const sinceMs = sinceOf(old, state, wasSeen && old?.state !== undefined, at);
      return kept(old, { kind: "website", cluster, labels, websiteId, website, protocol, state, sinceMs });
    });
  });
}

function testsOf(appliances: readonly ApplianceSnapshot[]): ReadonlyMap<number, readonly Test[]> {
  const tests = new Map<number, Test[]>();
  for (const { identity, websites } of appliances) {
    for (const website of websites) {
      const test = { appliance: identity.appliance, website };
      const others = tests.get(website.websiteId);
      if (others === undefined) tests.set(website.websiteId, [test]);
      else others.push(test);
    }
  }
  return tests;
}

function protocolsOf(tests: readonly Test[]): readonly WebsiteVerdict["protocol"][] {
  const known = new Set(tests.flatMap(({ website: { results } }) => results.map(({ protocol }) => protocol)));
  return known.size === 0 ? [""] : [...known].toSorted();
}

/** Nothing from an appliance whose answer is known and lacks the protocol. */
function viewOf(
  { appliance, website }: Test,
  protocol: WebsiteVerdict["protocol"],
  masters: ReadonlySet<string>,
) {
  const isMaster = masters.has(appliance);
  const found = website.results.find((each) => each.protocol === protocol);
  if (found !== undefined) return [{ isMaster, result: found.result }];
  return website.results.length > 0 ? [] : [{ isMaster, result: "unknown" as const }];
}

function isPolled({ health }: VrrpSnapshot | WebsiteSnapshot): boolean {
  return health.state !== "never_polled";
}

function sinceOf<State>(
  before: { readonly state: State; readonly sinceMs: number | undefined } | undefined,
  state: State,
  sawBeginning: boolean,
  { wallMs }: Instant,
): number | undefined {
  if (before !== undefined && before.state === state) return before.sinceMs;
  return sawBeginning ? wallMs : undefined;
}

/** The verdict of before, if nothing in it has changed. */
function kept<Verdict extends object>(before: Verdict | undefined, now: Verdict): Verdict {
  if (before === undefined) return now;
  const [old, fresh] = [Object.entries(before), Object.entries(now)];
  const isSame = fresh.every(([name, value], index) => {
    const [oldName, oldValue] = old[index] ?? [];
    return name === oldName && value === oldValue;
  });
  return isSame ? before : now;
}
