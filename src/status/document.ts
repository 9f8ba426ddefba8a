import type { Shard } from "../config/shard.ts";
import { type ApplianceSnapshot, type PollHealth, type VrrpListSnapshot } from "../fleet/snapshot.ts";
import type { Operation } from "../polling/observation.ts";
import type { ApplianceVerdict, ClusterVerdict, GroupVerdict, WebsiteVerdict } from "./verdict.ts";
import { lastingProblems, problemsOf, type ProblemFacts } from "./problems.ts";
import type {
  ApplianceDocument,
  ClusterDocument,
  FleetDocument,
  FleetEvent,
  GroupDocument,
  PollDocument,
  Problem,
} from "./schema.ts";
import type { LongText } from "../support/long-text.ts";
import { createMemo, once } from "../support/once.ts";
import { inSlices } from "../support/slices.ts";
import { instantOf, optionalInstant } from "./words.ts";

/** What the document shows beside the verdicts. */
export interface DocumentFacts extends ProblemFacts {
  readonly version: string;
  readonly shard: Shard;
  /** Unix time in milliseconds. */
  readonly startedAtMs: number;
  /** Latest first. */
  readonly events: readonly FleetEvent[];
  readonly nextPollAtMs: NextPollAtMs;
}

/** When the operation is polled next, Unix time in milliseconds; `undefined` where that is not planned. */
export type NextPollAtMs = (appliance: string, operation: Operation) => number | undefined;

/** The fleet for people, and for programs that inform people. */
export function fleetDocument(verdicts: readonly ClusterVerdict[], facts: DocumentFacts): FleetDocument {
  const { version, shard, startedAtMs } = facts;
  const problems = problemsOf(verdicts, facts);
  return {
    verdict: summaryOf(problems, verdicts.length > 0),
    exporter: { version, shard, startedAt: instantOf(startedAtMs) },
    problems: [...problems],
    clusters: verdicts.map((verdict) => clusterDocument(verdict, facts.nextPollAtMs)),
    events: [...facts.events],
  };
}

/** Makes what a document needs of a cluster; it is kept with the verdict. */
export function prepareDocument(verdict: ClusterVerdict, nextPollAtMs: NextPollAtMs): void {
  clusterDocument(verdict, nextPollAtMs);
  lastingProblems(verdict);
}

/** As JSON.stringify, in slices. */
export async function fleetJson(document: FleetDocument): Promise<LongText> {
  const clusters: string[] = [];
  await inSlices(document.clusters, (cluster) => void clusters.push(",", JSON.stringify(cluster)));
  const [before = "", after = ""] = JSON.stringify({ ...document, clusters: [] }).split(EMPTY, 2);
  const texts = [before, CLUSTERS, ...clusters.slice(1), "]", after, "\n"];
  return { lists: [texts], length: texts.reduce((sum, text) => sum + text.length, 0) };
}

const CLUSTERS = '"clusters":[';
const EMPTY = `${CLUSTERS}]`;

function summaryOf(problems: readonly Problem[], isPolling: boolean): FleetDocument["verdict"] {
  if (problems.some(({ severity }) => severity !== "unknown")) return "wrong";
  return problems.length > 0 || !isPolling ? "unknown" : "well";
}

type WebsiteDocument = ClusterDocument["websites"][number];
type DiscoveredDocument = NonNullable<ClusterDocument["discovered"]>["websites"][number];

const onceCluster = createMemo<ClusterDocument>();
const onceAppliance = createMemo<ApplianceDocument>();
const onceTest = createMemo<ApplianceDocument["websites"][number]>();

/** The same object while the verdict is, so that what the page makes of it can be kept too. */
function clusterDocument(verdict: ClusterVerdict, nextPollAtMs: NextPollAtMs): ClusterDocument {
  const { facts: cluster, state, groups } = verdict;
  const websites = [...verdict.websites.values()];
  return onceCluster(verdict, [nextPollAtMs], () => ({
    name: cluster.cluster,
    labels: { ...cluster.labels },
    state,
    groups: Array.from(groups.values(), groupDocument),
    websites: websites.filter(({ states: { length } }) => length > 0).map(websiteDocument),
    discovered: cluster.appliances.some(({ discovery }) => discovery !== undefined)
      ? { websites: websites.filter(({ found: { length } }) => length > 0).map(discoveredDocument) }
      : undefined,
    appliances: cluster.appliances.map((appliance) => {
      const judged = verdict.appliances.get(appliance.identity.appliance);
      return onceAppliance(appliance, [judged, nextPollAtMs], () =>
        applianceDocument(appliance, judged, nextPollAtMs),
      );
    }),
  }));
}

// Most polls change little of a cluster: the rest of its document is made of what stayed the same object.

function groupDocument({ facts, state, master, sinceMs }: GroupVerdict): GroupDocument {
  return {
    vhid: facts.vhid,
    vip: facts.vip,
    state,
    master,
    since: optionalInstant(sinceMs),
    isPreferredMaster: facts.isPreferredMaster,
    members: facts.members.map(({ appliance, role, priority }) => ({
      appliance,
      role,
      priority: role === "unknown" ? undefined : priority,
    })),
  };
}

const websiteDocument = once(
  ({ websiteId: id, website: name, ids, states }: WebsiteVerdict): WebsiteDocument => {
    const known = states.flatMap(({ protocol, state, sinceMs }) =>
      state === undefined
        ? []
        : [{ protocol: protocol === "" ? undefined : protocol, state, since: optionalInstant(sinceMs) }],
    );
    return { id, name, ids, states: known };
  },
);

const discoveredDocument = once(
  ({
    websiteId: id,
    website: name,
    key: address,
    backends: state,
    differences,
    found,
  }: WebsiteVerdict): DiscoveredDocument => ({
    id,
    name,
    address,
    state,
    differences: differences.map(({ kind }) => kind),
    at: Object.fromEntries(
      found.map(({ identity, websiteId, details: { isEnabled, mode, backends } }) => [
        identity.appliance,
        { id: websiteId, isEnabled, mode, backends: backends?.map((each) => ({ ...each })) },
      ]),
    ),
  }),
);

function applianceDocument(
  { identity, vrrp, websites, discovery }: ApplianceSnapshot,
  verdict: ApplianceVerdict | undefined,
  nextPollAtMs: NextPollAtMs,
): ApplianceDocument {
  const next = (operation: Operation) => nextPollAtMs(identity.appliance, operation);
  return {
    name: identity.appliance,
    labels: identity.labels,
    state: verdict?.state,
    since: optionalInstant(verdict?.sinceMs),
    poll: pollDocument(vrrp.health, () => next({ kind: "vrrp" })),
    interfaces: vrrp.list && interfaceDocuments(vrrp.list),
    discovery: discovery && {
      list: pollDocument(discovery.list, () => next({ kind: "website_list" })),
      details: discovery.details && pollDocument(discovery.details, () => undefined),
    },
    websites: websites.map((test) =>
      onceTest(test, [nextPollAtMs], () => ({
        id: test.websiteId,
        name: test.website,
        poll: pollDocument(test.health, () => next({ kind: "website_test", websiteId: test.websiteId })),
        statuses: test.found?.statuses.map(({ protocol, status, isUp, text }) => {
          return { protocol, status, isUp, text };
        }),
      })),
    ),
  };
}

function pollDocument(health: PollHealth, nextPollAtMs: () => number | undefined): PollDocument {
  const { failure, durationSeconds } = health;
  return {
    state: health.state === "never_polled" ? "pending" : health.state,
    reason: failure?.reason,
    message: failure?.message,
    failingSince: optionalInstant(health.failingSinceMs),
    lastSuccessAt: optionalInstant(health.lastSuccessAtMs),
    durationSeconds,
    // It changes without the verdict.
    get nextPollAt() {
      return optionalInstant(nextPollAtMs());
    },
  };
}

const interfaceDocuments = once((list: VrrpListSnapshot) =>
  list.interfaces.map(({ reported, lastTransitionAtMs }) => {
    const { name, vhid, vip, state, priority, device } = reported;
    return {
      name,
      vhid,
      vip,
      state,
      priority,
      device,
      lastTransitionAt: optionalInstant(lastTransitionAtMs),
    };
  }),
);
