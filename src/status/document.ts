import type { Shard } from "../config/shard.ts";
import type { ApplianceSnapshot, InterfaceSnapshot, PollHealth } from "../fleet/snapshot.ts";
import type { Operation } from "../polling/observation.ts";
import type { ClusterVerdict, GroupVerdict, WebsiteVerdict } from "./verdict.ts";
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
import { createMemo, once } from "../support/kept.ts";
import { inSlices } from "../support/slices.ts";
import { instantOf, optionalInstant } from "./words.ts";

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
    verdict: summaryOf(
      problems,
      verdicts.some((each) => each.facts.appliances.length > 0),
    ),
    exporter: { version, shard, startedAt: instantOf(startedAtMs) },
    problems: [...problems],
    clusters: verdicts.map((verdict) => clusterDocument(verdict, facts.nextPollAtMs)),
    events: [...facts.events],
  };
}

/** Makes what a document needs of a cluster, and keeps it with the verdict. */
export function prepareDocument(verdict: ClusterVerdict, nextPollAtMs: NextPollAtMs): void {
  clusterDocument(verdict, nextPollAtMs);
  lastingProblems(verdict);
}

/** As JSON.stringify, in slices: of lists, one element after another. */
export async function fleetJson(document: FleetDocument): Promise<LongText> {
  const texts: LongText[] = [];
  for (const [key, value] of Object.entries(document)) {
    texts.push([texts.length === 0 ? "{" : ",", JSON.stringify(key), ":"]);
    texts.push(Array.isArray(value) ? await listJson(value) : [JSON.stringify(value)]);
  }
  return [...texts.flat(), "}\n"];
}

async function listJson(elements: readonly unknown[]): Promise<LongText> {
  const texts: string[] = [];
  await inSlices(elements, (element) => void texts.push(",", JSON.stringify(element)));
  return ["[", ...texts.slice(1), "]"];
}

/** The verdict on clusters with these problems. */
export function summaryOf(problems: readonly Problem[], isPolling: boolean): FleetDocument["verdict"] {
  if (problems.some(({ severity }) => severity !== "unknown")) return "wrong";
  return problems.length > 0 || !isPolling ? "unknown" : "well";
}

const onceCluster = createMemo<ClusterDocument>();
const onceTest = createMemo<ApplianceDocument["websites"][number]>();

/** The same object while the verdict is, so that what the page makes of it can be kept too. */
function clusterDocument(verdict: ClusterVerdict, nextPollAtMs: NextPollAtMs): ClusterDocument {
  return onceCluster(verdict, [nextPollAtMs], () => {
    const { cluster: name, labels, appliances } = verdict.facts;
    const websites = [...verdict.websites.values()];
    const described = websites.filter(({ found }) => found.length > 0).map(discoveredDocument);
    const isDiscovered = appliances.some(({ discovery }) => discovery !== undefined);
    return {
      name,
      labels: { ...labels },
      state: verdict.state,
      groups: Array.from(verdict.groups.values(), groupDocument),
      websites: websites.filter(({ states }) => states.length > 0).map(websiteDocument),
      discovered: isDiscovered ? { websites: described } : undefined,
      appliances: appliances.map((appliance) => applianceDocument(appliance, verdict, nextPollAtMs)),
    };
  });
}

function groupDocument({ facts, state, master, sinceMs }: GroupVerdict): GroupDocument {
  const { vhid, vip, isPreferredMaster } = facts;
  const members = facts.members.map(({ appliance, role, priority }) => {
    return { appliance, role, priority: role === "unknown" ? undefined : priority };
  });
  return { vhid, vip, state, master, since: optionalInstant(sinceMs), isPreferredMaster, members };
}

const websiteDocument = once(({ websiteId: id, website: name, ids, states }: WebsiteVerdict) => {
  const known = states.flatMap(({ protocol, state, sinceMs }) => {
    const since = optionalInstant(sinceMs);
    return state === undefined ? [] : [{ protocol: protocol || undefined, state, since }];
  });
  return { id, name, ids, states: known };
});

const discoveredDocument = once((verdict: WebsiteVerdict) => {
  const { websiteId: id, website: name, key: address, backends: state, found } = verdict;
  const differences = verdict.differences.map(({ kind }) => kind);
  const at = found.map(({ identity, websiteId, details: { isEnabled, mode, backends } }) => {
    const servers = backends?.shown.map((each) => ({ ...each }));
    const moreBackends = backends?.leftOut || undefined;
    return [identity.appliance, { id: websiteId, isEnabled, mode, backends: servers, moreBackends }] as const;
  });
  return { id, name, address, state, differences, at: Object.fromEntries(at) };
});

function applianceDocument(
  { identity, vrrp, websites, discovery }: ApplianceSnapshot,
  { appliances }: ClusterVerdict,
  nextPollAtMs: NextPollAtMs,
): ApplianceDocument {
  const { appliance: name, labels } = identity;
  const { state, sinceMs } = appliances.get(name) ?? {};
  const poll = (health: PollHealth, operation: Operation) =>
    pollDocument(health, () => nextPollAtMs(name, operation));
  return {
    name,
    labels,
    state,
    since: optionalInstant(sinceMs),
    poll: poll(vrrp.health, { kind: "vrrp" }),
    interfaces: vrrp.list?.interfaces.map(interfaceDocument),
    discovery: discovery && {
      list: poll(discovery.list, { kind: "website_list" }),
      details: discovery.details && pollDocument(discovery.details, () => undefined),
    },
    websites: websites.map((test) =>
      onceTest(test, [nextPollAtMs], () => ({
        id: test.websiteId,
        name: test.website,
        poll: poll(test.health, { kind: "website_test", websiteId: test.websiteId }),
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

function interfaceDocument({ reported, lastTransitionAtMs }: InterfaceSnapshot) {
  const { name, vhid, vip, state, priority, device } = reported;
  const lastTransitionAt = optionalInstant(lastTransitionAtMs);
  return { name, vhid, vip, state, priority, device, lastTransitionAt };
}
