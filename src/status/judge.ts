import { isDeepStrictEqual } from "node:util";
import type { Protocol } from "../api/website-test.ts";
import { canonicalAddress } from "../fleet/address.ts";
import {
  membersIn,
  type ClusterSnapshot,
  type GroupSnapshot,
  type Identity,
  type VrrpSnapshot,
  type WebsiteSnapshot,
} from "../fleet/snapshot.ts";
import { groupBy } from "../support/group-by.ts";
import { discoveredVerdict, type DiscoveredVerdict } from "./discovered.ts";
import {
  judgeAppliance,
  judgeCluster,
  type ApplianceState,
  type ClusterState,
} from "./verdicts/appliance.ts";
import { judgeGroup, masterIn, type GroupState } from "./verdicts/group.ts";
import { judgeWebsite, type View, type WebsiteState } from "./verdicts/website.ts";

/** An instant by both clocks, in milliseconds. */
export interface Instant {
  /** Unix time, which jumps when the clock is set. */
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/**
 * What the facts about a cluster mean. Each verdict is the same object for as long as it stays as it is. `sinceMs`: Unix
 * time at which the present state began; `undefined` where this process did not see the beginning.
 */
export interface ClusterVerdict {
  readonly kind: "cluster";
  readonly facts: ClusterSnapshot;
  /** `undefined` before any poll. */
  readonly state: ClusterState | undefined;
  /** By name. */
  readonly appliances: ReadonlyMap<string, ApplianceVerdict>;
  /** By `groupKey`. */
  readonly groups: ReadonlyMap<string, GroupVerdict>;
  /** One for each website and protocol; protocol `""` while none is known. By `websiteKey`. */
  readonly websites: ReadonlyMap<string, WebsiteVerdict>;
  /** `undefined` where no websites are discovered. */
  readonly discovered: DiscoveredVerdict | undefined;
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
  readonly kind: "group";
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
  /** Identifies it within the cluster: its host and port, else its id. */
  readonly key: string;
  /** Its id at the first appliance that has it. */
  readonly websiteId: number;
  readonly website: string;
  /** Its id at each appliance that tests it. */
  readonly ids: ReadonlyMap<string, number>;
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
  /** Forgets all clusters but these. */
  keep(clusters: readonly string[]): void;
}

export function createJudge(): Judge {
  const verdicts = new Map<string, ClusterVerdict>();
  return {
    judge: (facts, at) => {
      const before = verdicts.get(facts.cluster);
      if (before?.facts === facts && ![...before.groups.values()].some(({ state }) => state === "unknown"))
        return { before, now: before };
      const now = clusterVerdict(facts, before, at);
      verdicts.set(facts.cluster, now);
      return { before, now };
    },
    keep: (clusters) => {
      const wanted = new Set(clusters);
      for (const cluster of verdicts.keys()) if (!wanted.has(cluster)) verdicts.delete(cluster);
    },
  };
}

/** What a verdict is compared with. */
interface Past {
  readonly before: ClusterVerdict | undefined;
  /** Whether the VRRP list of every appliance was polled before: a state that is new now began now. */
  readonly wasPolled: boolean;
  readonly at: Instant;
}

function clusterVerdict(
  facts: ClusterSnapshot,
  before: ClusterVerdict | undefined,
  at: Instant,
): ClusterVerdict {
  const wasPolled = before?.facts.appliances.every(({ vrrp }) => isPolled(vrrp)) === true;
  const past = { before, wasPolled, at };
  const appliances = applianceVerdicts(facts, past);
  const groups = groupVerdicts(facts, past);
  const masters = mastersOf(groups);
  const websites = websiteVerdicts(facts, masters, past);
  return {
    kind: "cluster",
    facts,
    state: judgeCluster(Array.from(appliances.values(), ({ state }) => state)),
    appliances,
    groups,
    websites,
    discovered: discoveredIn(facts, masters, websites, before),
  };
}

/** Most polls find nothing new: then the verdict stays as it is. */
function discoveredIn(
  facts: ClusterSnapshot,
  masters: ReadonlySet<string>,
  websites: ClusterVerdict["websites"],
  before: ClusterVerdict | undefined,
): ClusterVerdict["discovered"] {
  const isSame =
    websites === before?.websites &&
    isSameList(
      facts.appliances,
      before.facts.appliances,
      (one, other) => one.discovery === other.discovery && one.found === other.found,
    );
  if (isSame) return before.discovered;
  // Up by all of its protocols.
  const byKey = groupBy(websites.values(), ({ key }) => key);
  const up = [...byKey.values()].filter((all) => all.every(({ state }) => state === "up")).flat();
  const isUp = new Set(up.flatMap(({ ids }) => Array.from(ids, idKey)));
  return discoveredVerdict(
    facts,
    {
      isMaster: ({ identity, details }) =>
        isMasterFor(facts, masters, identity.appliance, details.bind.map(canonicalAddress)),
      isUp: ({ identity, websiteId }) => isUp.has(idKey([identity.appliance, websiteId])),
    },
    before?.discovered,
  );
}

function idKey([appliance, websiteId]: readonly [string, number]): string {
  return `${websiteId} ${appliance}`;
}

/** The known masters by `masterKey`; of a group that is changing also the latest one, until the change is proven. */
function mastersOf(groups: ClusterVerdict["groups"]): ReadonlySet<string> {
  return new Set(
    [...groups.values()].flatMap(({ facts, state, latestMaster }) =>
      [
        ...membersIn(facts, "master"),
        ...(state === "changing" && latestMaster !== undefined ? [latestMaster] : []),
      ].map((appliance) => masterKey(appliance, facts.vip)),
    ),
  );
}

/** Names contain no line breaks. */
function masterKey(appliance: string, vip: string): string {
  return `${appliance}\n${vip}`;
}

/** Whether an appliance is MASTER of a VIP on which a website listens; of any VIP where that is not known. */
function isMasterFor(
  { groups }: ClusterSnapshot,
  masters: ReadonlySet<string>,
  appliance: string,
  bind: readonly string[],
): boolean {
  const own = groups.filter(({ vip }) => bind.includes(vip));
  return (own.length > 0 ? own : groups).some(({ vip }) => masters.has(masterKey(appliance, vip)));
}

const WITHOUT_MASTER: ReadonlySet<GroupVerdict["state"]> = new Set(["unknown", "no_master", "changing"]);

/** Whether a website of the cluster that is unknown is so because no appliance answers or a master is not known. */
export function hidesWebsites({ state, groups }: ClusterVerdict): boolean {
  return (
    state === "dark" ||
    state === "unknown" ||
    [...groups.values()].some((group) => WITHOUT_MASTER.has(group.state))
  );
}

function applianceVerdicts(
  { appliances }: ClusterSnapshot,
  { before, at }: Past,
): ClusterVerdict["appliances"] {
  const verdicts = appliances.map(({ identity, vrrp }): ApplianceVerdict => {
    const old = before?.appliances.get(identity.appliance);
    const state = judgeAppliance(vrrp.health);
    const sinceMs = sinceOf(old, state, old?.state !== undefined, at);
    return kept(old, { kind: "appliance", identity, state, sinceMs });
  });
  return new Map(verdicts.map((verdict) => [verdict.identity.appliance, verdict]));
}

function groupVerdicts(facts: ClusterSnapshot, past: Past): ClusterVerdict["groups"] {
  return new Map(facts.groups.map((group) => [group.key, groupVerdict(group, facts, past)]));
}

function groupVerdict(
  facts: GroupSnapshot,
  { cluster, labels, hasDisabled }: ClusterSnapshot,
  { before, wasPolled, at }: Past,
): GroupVerdict {
  const old = before?.groups.get(facts.key);
  // Another configuration has other labels; with time alone, only what is unknown changes.
  if (old?.facts === facts && old.labels === labels && old.state !== "unknown") return old;
  const state = judgeGroup(facts, { hasDisabled, nowMs: at.monotonicMs });
  const master = masterIn(facts, state);
  // A change that was in progress when polling began may have begun earlier.
  const sawBeginning = wasPolled && !(old?.state === "changing" && old.sinceMs === undefined);
  return kept(old, {
    kind: "group",
    cluster,
    labels,
    facts,
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

/** A website's test by one appliance. */
interface Test {
  readonly website: WebsiteSnapshot;
  readonly isMaster: boolean;
}

function websiteVerdicts(
  facts: ClusterSnapshot,
  masters: ReadonlySet<string>,
  { before, wasPolled, at }: Past,
): ClusterVerdict["websites"] {
  const { cluster, labels, appliances, groups, hasDisabled } = facts;
  if (before !== undefined && isSameForWebsites(facts, masters, before)) return before.websites;
  const context = { hasGroups: groups.length > 0, hasDisabled };
  // A master of whose websites some were not found yet may have any of them.
  const isPending = groups.length > 0 && appliances.some(({ discovery }) => discovery?.isPending === true);
  const names = new Set<string>();
  const verdicts = [...testsByWebsite(appliances)].flatMap(([key, found]) => {
    const bind = found.flatMap((website) => website.bind);
    const tests = found.map((website): Test => {
      return { website, isMaster: isMasterFor(facts, masters, website.identity.appliance, bind) };
    });
    const websiteId = found[0]?.websiteId ?? 0;
    const name = [...new Set(found.map(({ website }) => website))].join(" / ");
    const website = unusedName(names, websiteId, name, key);
    names.add(`${websiteId} ${website}`);
    const ids = new Map(found.toReversed().map((each) => [each.identity.appliance, each.websiteId] as const));
    const isTested = tests.some((test) => isPolled(test.website));
    return protocolsOf(tests).map((protocol): WebsiteVerdict => {
      const old = before?.websites.get(websiteKey({ key, protocol }));
      const views = tests.flatMap((test) => viewOf(test, protocol));
      const isKnown = isTested && !(isPending && views.every((view) => !view.isMaster));
      const state = isKnown ? judgeWebsite(views, context) : undefined;
      const sinceMs = sinceOf(old, state, wasPolled && old?.state !== undefined, at);
      const same = isDeepStrictEqual(old?.ids, ids) ? (old?.ids ?? ids) : ids;
      const named = { key, websiteId, website, ids: same, protocol };
      return kept(old, { kind: "website", cluster, labels, ...named, state, sinceMs });
    });
  });
  return new Map(verdicts.map((verdict) => [websiteKey(verdict), verdict]));
}

/** Two websites may have the same id and name at different appliances. */
function unusedName(used: ReadonlySet<string>, id: number, name: string, key: string): string {
  return used.has(`${id} ${name}`) ? unusedName(used, id, `${name} (${key})`, key) : name;
}

/** The tests of a cluster by website: by host and port, else by id, like another appliance's website with that id. */
function testsByWebsite(
  appliances: ClusterSnapshot["appliances"],
): ReadonlyMap<string, readonly WebsiteSnapshot[]> {
  const tests = appliances.flatMap(({ websites }) => websites);
  const addresses = new Map<number, string>();
  for (const { websiteId, address } of tests)
    if (address !== undefined && !addresses.has(websiteId)) addresses.set(websiteId, address);
  return groupBy(tests, ({ websiteId, address }) => address ?? addresses.get(websiteId) ?? `#${websiteId}`);
}

/** Most polls find nothing new: then no verdict on a website can be another one. */
function isSameForWebsites(
  facts: ClusterSnapshot,
  masters: ReadonlySet<string>,
  before: ClusterVerdict,
): boolean {
  const old = before.facts;
  const oldMasters = mastersOf(before.groups);
  return (
    facts.labels === old.labels &&
    facts.hasDisabled === old.hasDisabled &&
    facts.groups.length === old.groups.length &&
    masters.size === oldMasters.size &&
    [...masters].every((master) => oldMasters.has(master)) &&
    isSameList(
      facts.appliances,
      old.appliances,
      (one, other) =>
        one.identity === other.identity &&
        one.discovery?.isPending === other.discovery?.isPending &&
        isSameList(one.websites, other.websites, foundTheSame),
    )
  );
}

function foundTheSame(one: WebsiteSnapshot, other: WebsiteSnapshot): boolean {
  if (one === other) return true;
  return (
    one.websiteId === other.websiteId &&
    one.website === other.website &&
    one.address === other.address &&
    one.bind === other.bind &&
    isPolled(one) === isPolled(other) &&
    isSameList(one.results, other.results, (a, b) => a.protocol === b.protocol && a.result === b.result)
  );
}

function isSameList<T>(
  ones: readonly T[],
  others: readonly T[],
  isSame: (one: T, other: T) => boolean,
): boolean {
  return (
    ones.length === others.length &&
    ones.every((one, nth) => {
      const other = others[nth];
      return other !== undefined && isSame(one, other);
    })
  );
}

/** Identifies a website and protocol within its cluster. */
function websiteKey({ key, protocol }: Pick<WebsiteVerdict, "key" | "protocol">): string {
  return `${key} ${protocol}`;
}

function protocolsOf(tests: readonly Test[]): readonly WebsiteVerdict["protocol"][] {
  const known = new Set(tests.flatMap(({ website: { results } }) => results.map(({ protocol }) => protocol)));
  return known.size === 0 ? [""] : [...known].toSorted();
}

/** None from an appliance whose answer is known and lacks the protocol. */
function viewOf(
  { website: { results }, isMaster }: Test,
  protocol: WebsiteVerdict["protocol"],
): readonly View[] {
  const found = results.find((each) => each.protocol === protocol);
  if (found === undefined && results.length > 0) return [];
  return [{ isMaster, result: found?.result ?? "unknown" }];
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
  for (const name in now) if (now[name] !== before[name]) return now;
  return before;
}
