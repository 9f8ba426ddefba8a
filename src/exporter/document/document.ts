import type { Shard } from "../config/shard.ts";
import {
  pendingIn,
  type ApplianceSnapshot,
  type ClusterSnapshot,
  type InterfaceSnapshot,
  type PollHealth,
  type WebsiteSnapshot,
} from "../fleet/snapshot.ts";
import type { Operation } from "../api/operation.ts";
import {
  hidesWebsites,
  type ClusterVerdict,
  type ReadinessVerdict,
  type GroupVerdict,
  type Risk,
  type WebsiteVerdict,
} from "../judge/verdict.ts";
import { interfaceProblem } from "../judge/judge-appliance.ts";
import { decidingIn } from "../judge/masters.ts";
import { isPartOf, protocolProblem } from "../judge/judge-website.ts";
import { ownProblems, type OwnFacts } from "../judge/own-problems.ts";
import { lastingProblems, problemsOf } from "../judge/problems.ts";
import { lostWebsites } from "../judge/website-problems.ts";
import { STATE_OF, worstFirst } from "../judge/readiness.ts";
import { elsewhereRisks } from "../judge/judge-windows.ts";
import { windowsElsewhere, type MaintenanceWindow } from "../maintenance/window.ts";
import { evidenceAt, readinessSentence, riskWords } from "../judge/readiness-words.ts";
import { masterlessIn, readyOn } from "./ready.ts";
import type {
  ApplianceDocument,
  ClusterDocument,
  FleetDocument,
  IncidentDocument,
  ProblemDocument,
} from "./schema.ts";
import { comingDocuments, plannedDocuments } from "./planned-document.ts";
import type { LongText } from "../../support/long-text.ts";
import { memo, once } from "../../support/kept.ts";
import { inSlices } from "../../support/slices.ts";
import {
  levelOf,
  PROBLEM_OF,
  type ReadinessState,
  type Level,
  type ProblemKind,
  type WebsiteState,
} from "../judge/states.ts";
import { subjectKeys, websiteKeys } from "../judge/subjects.ts";
import { groupRef, instantOf, interfaceName, optionalInstant, shortened } from "../judge/words.ts";

/** The facts for the document besides the verdicts. Instants are Unix times in milliseconds. */
export interface DocumentFacts extends OwnFacts {
  readonly version: string;
  readonly shard: Shard;
  readonly startedAtMs: number;
  /** The incidents, the latest one first. */
  readonly incidents: readonly IncidentDocument[];
  readonly nextPollAtMs: NextPollAtMs;
  /** The windows of the configuration that have not begun. */
  readonly coming: readonly MaintenanceWindow[];
}

/** Returns the Unix time in milliseconds at which the operation is polled next; `undefined` if no poll is planned. */
export type NextPollAtMs = (appliance: string, operation: Operation) => number | undefined;

/** Returns the document of the fleet for people, and for programs that inform people. */
export function fleetDocument(verdicts: readonly ClusterVerdict[], facts: DocumentFacts): FleetDocument {
  const { version, shard, startedAtMs, nextPollAtMs } = facts;
  const problems = problemsOf(verdicts, ownProblems(verdicts, facts));
  const coming = comingDocuments(facts.coming, verdicts);
  const isPolling = verdicts.some((each) => each.facts.appliances.length > 0);
  return {
    verdict: summaryOf(problems, isPolling),
    exporter: { version, shard, startedAt: instantOf(startedAtMs) },
    planned: plannedDocuments(verdicts),
    ...(coming !== undefined && { coming }),
    problems: [...problems],
    clusters: verdicts.map((verdict) => clusterDocument(verdict, { verdict, nextPollAtMs })),
    incidents: [...facts.incidents],
  };
}

/** Returns the text of JSON.stringify, made in slices: lists element by element. */
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

/** Returns the verdict on clusters with these problems. */
export function summaryOf(
  problems: readonly ProblemDocument[],
  isPolling: boolean,
): FleetDocument["verdict"] {
  const unplanned = problems.filter((each) => each.isPlanned !== true);
  if (unplanned.some(({ severity }) => severity !== "unknown")) return "wrong";
  return unplanned.length > 0 || !isPolling ? "unknown" : "well";
}

interface ClusterFacts {
  readonly verdict: ClusterVerdict;
  readonly nextPollAtMs: NextPollAtMs;
}

/** Returns the same object while the verdict is the same, so that the page can keep what it renders. */
export const clusterDocument = memo(({ verdict, nextPollAtMs }: ClusterFacts): ClusterDocument => {
  const { cluster: name, labels, appliances, disabled } = verdict.facts;
  const websites = [...verdict.websites.values()];
  const { risks: lost } = lostWebsites(verdict);
  const described = websites
    .filter(({ found }) => found.length > 0)
    .map((website) => discoveredDocument(website, { website, isLost: lost.has(website.key) }));
  const isHidden = hidesWebsites(verdict);
  const isDiscovered = appliances.some(({ discovery }) => discovery !== undefined);
  const groups = Array.from(verdict.groups.values(), groupDocument);
  const members = [
    ...appliances.map((appliance) => applianceDocument(appliance, verdict, nextPollAtMs)),
    ...disabled.map((each) => disabledDocument(each)),
  ];
  const windows = (verdict.planned?.windows ?? []).map((window) => ({ window, members: window.members }));
  return {
    name,
    labels,
    state: verdict.state,
    level: clusterLevel(verdict),
    groups,
    websites: websites.flatMap((website) => websiteDocument(website, verdict.groups, isHidden)),
    discovered: isDiscovered ? { websites: described } : undefined,
    appliances: members.map((each) => ({
      ...each,
      get ready() {
        const elsewhere = windowsElsewhere(windows, new Set([each.name]));
        return readyOn(each, { groups, appliances: members, elsewhere });
      },
    })),
    masterless: masterlessIn(name, { groups, appliances: members }),
  };
});

function disabledDocument({ identity }: ClusterSnapshot["disabled"][number]): ApplianceDocument {
  const { appliance: name, labels } = identity;
  const key = subjectKeys.appliance(name);
  return { name, key, labels, state: "disabled", level: "unknown", websites: [] };
}

/** Returns the level of the worst problem; `unknown` also if nothing is polled, or something was not polled yet. */
function clusterLevel(verdict: ClusterVerdict): Level {
  const worst = lastingProblems(verdict).find((each) => each.isPlanned !== true);
  const isKnown = verdict.facts.appliances.length > 0 && pendingIn(verdict.facts).length === 0;
  return worst?.severity ?? (isKnown ? "well" : "unknown");
}

/** Of most groups a poll finds nothing new. */
const groupDocument = once((verdict: GroupVerdict) => {
  const { facts, state, problem, master, masters: known, sinceMs, isPreferredMaster } = verdict;
  const members = facts.members.map(({ appliance, interfaces, role, priority }) => {
    const rival = role === "master" && state === "split_brain" ? state : undefined;
    return {
      appliance,
      interfaces: [...interfaces],
      role,
      level: levelOf(role === "other" ? "odd_state" : rival, role !== "unknown"),
      priority: role === "unknown" ? undefined : priority,
    };
  });
  const [level, since] = [levelOf(problem, state !== undefined), optionalInstant(sinceMs)];
  const key = subjectKeys.group(facts.key);
  const masters = known.length > 1 ? [...known] : undefined;
  return {
    ...groupRef(facts),
    key,
    state,
    level,
    problem,
    master,
    masters,
    since,
    isPreferredMaster,
    members,
  };
});

/**
 * Returns a list of one website; an empty list if the website is not tested. `isHidden` says that its unknown state follows from another
 * problem.
 */
function websiteDocument(
  website: WebsiteVerdict,
  groups: ClusterVerdict["groups"],
  isHidden: boolean,
): ClusterDocument["websites"] {
  const { key: address, websiteId: id, website: name, ids, states } = website;
  const known = states.flatMap(({ protocol, state, sinceMs }) => {
    const level = websiteLevel(state, states, isHidden);
    const since = optionalInstant(sinceMs);
    const key = subjectKeys.website(protocol, address);
    return state === undefined ? [] : [{ protocol: protocol || undefined, key, state, level, since }];
  });
  return states.length === 0
    ? []
    : [{ id, name, ids, masters: [...decidingIn(groups)(website)], states: known }];
}

function websiteLevel(
  state: WebsiteState | undefined,
  all: WebsiteVerdict["states"],
  isHidden: boolean,
): Level {
  const isKnown = state !== undefined && !(state === "unknown" && isHidden);
  return levelOf(protocolProblem(state, all), isKnown);
}

interface DiscoveredWebsite {
  readonly website: WebsiteVerdict;
  /** Whether visitors would lose something of the website at a failover. */
  readonly isLost: boolean;
}

const discoveredDocument = memo(({ website, isLost }: DiscoveredWebsite) => {
  const { websiteId: id, website: name, key: address, backends: state, found } = website;
  const at = found.map(({ identity, websiteId, details }) => {
    const { isEnabled, mode, backends } = details;
    const servers = backends?.shown.map((each) => ({ ...each }));
    const more = backends?.leftOut || undefined;
    const level = levelOf(state && isPartOf(state, details) ? PROBLEM_OF.backends[state] : undefined);
    const description = { id: websiteId, isEnabled, mode, level, backends: servers, moreBackends: more };
    return [identity.appliance, description] as const;
  });
  const lost = isLost ? PROBLEM_OF.readiness.losses : undefined;
  const level = levelOf((state && PROBLEM_OF.backends[state]) ?? lost);
  return { key: subjectKeys.backends(address), id, name, address, state, level, at: Object.fromEntries(at) };
});

function readinessDocument(readiness: ReadinessVerdict, verdict: ClusterVerdict) {
  const { identity, state, sinceMs, successors, addresses, websites, risks, more } = readiness;
  const name = identity.appliance;
  const member = verdict.facts.appliances.find((each) => each.identity.appliance === name);
  const elsewhere = verdict.planned === undefined ? [] : elsewhereRisks(verdict.planned, name);
  return {
    key: subjectKeys.readiness(name),
    state,
    level: readinessLevel(state),
    since: optionalInstant(sinceMs),
    summary: shortened(readinessSentence(readiness, verdict)),
    successors: [...successors],
    addresses,
    websites,
    leftOut: member?.inventory.excluded.length || undefined,
    // Of most clusters nobody reads the risks before the next poll.
    get risks() {
      return worstFirst([...risks, ...elsewhere]).map((each) => {
        const { risk, effect, successor, subject } = each;
        const seenAt = evidenceAt(each, name, verdict);
        const summary = shortened(riskWords([each], name, verdict));
        const level = readinessLevel(STATE_OF[effect]);
        const keys = riskKeys(each, verdict);
        return { risk, effect, level, successor: successor || undefined, subject, keys, summary, seenAt };
      });
    },
    moreRisks: more?.count,
  };
}

function riskKeys({ risk, key, protocol }: Risk, { groups, websites }: ClusterVerdict): string[] {
  if (protocol === undefined) return groups.has(key) ? [subjectKeys.group(key)] : [];
  if (protocol !== "") return [subjectKeys.website(protocol, key)];
  const website = websites.get(key);
  const servers = risk === "website_backends_lost" ? [subjectKeys.backends(key)] : [];
  return website === undefined ? [] : [...servers, ...websiteKeys(website)];
}

function readinessLevel(state: ReadinessState): Level {
  return levelOf(PROBLEM_OF.readiness[state], state !== "unknown");
}

function applianceDocument(
  { identity, vrrp, websites, discovery }: ApplianceSnapshot,
  verdict: ClusterVerdict,
  nextPollAtMs: NextPollAtMs,
): ApplianceDocument {
  const { appliance: name, labels } = identity;
  const { state, sinceMs, problems = [] } = verdict.appliances.get(name) ?? {};
  const poll = (health: PollHealth, operation: Operation, failing: ProblemKind | undefined) =>
    pollDocument(health, failing, () => nextPollAtMs(name, operation));
  const isAlone = verdict.facts.groups.length === 0;
  const problem = state && PROBLEM_OF.appliance[state];
  const unlisted = problems.find((kind) => kind === "websites_not_listed");
  const tested = statesByTest(verdict);
  const isHidden = hidesWebsites(verdict);
  const readiness = verdict.readiness.get(name);
  const { list } = vrrp.found ?? {};
  return {
    name,
    key: subjectKeys.appliance(name),
    labels,
    state,
    level: levelOf(problem, state !== undefined),
    since: optionalInstant(sinceMs),
    poll: poll(vrrp.health, { kind: "vrrp" }, problem),
    interfaces: list?.interfaces.map((each) => interfaceDocument(each, name, isAlone)),
    unreadableInterfaces: list?.anomalies.bad_interface || undefined,
    discovery: discovery && {
      list: poll(discovery.list, { kind: "website_list" }, unlisted),
      details: discovery.details && pollDocument(discovery.details, unlisted, () => undefined),
    },
    websites: websites.map((test) => {
      return testDocument(test, { test, states: tested.get(test) ?? [], isHidden, nextPollAtMs });
    }),
    failover: readiness && readinessDocument(readiness, verdict),
  };
}

interface TestFacts extends Pick<ClusterFacts, "nextPollAtMs"> {
  readonly test: WebsiteSnapshot;
  readonly states: WebsiteVerdict["states"];
  readonly isHidden: boolean;
}

const testDocument = memo(({ test, states, isHidden, nextPollAtMs }: TestFacts) => {
  const { identity, websiteId, website: name, health, found } = test;
  const nextAtMs = () => nextPollAtMs(identity.appliance, { kind: "website_test", websiteId });
  const statuses = found?.statuses.map(({ protocol, status, isUp, text }) => {
    const state = states.find((one) => one.protocol === protocol)?.state;
    const judged = websiteLevel(state, states, isHidden);
    // A result that does not count yet is not known.
    const level: Level = isUp ? "well" : judged === "well" ? "unknown" : judged;
    return { protocol, status, isUp, level, text };
  });
  const unsure = found?.uncertain.map(({ protocol, text }) => ({ protocol, text })) ?? [];
  const uncertain = unsure.length === 0 ? undefined : unsure;
  return { id: websiteId, name, poll: pollDocument(health, undefined, nextAtMs), statuses, uncertain };
});

/** Returns the states of each website, by its tests. */
const statesByTest = once(({ facts: { appliances, websites }, websites: verdicts }: ClusterVerdict) => {
  const states = websites.flatMap(({ key, at }) =>
    at.map(({ member, test }) => [appliances[member]?.websites[test], verdicts.get(key)?.states] as const),
  );
  return new Map(states);
});

/** Returns the document of a poll; `problem` is the kind of problem that a failure of the operation is, if it is one. */
function pollDocument(
  health: PollHealth,
  problem: ProblemKind | undefined,
  nextPollAtMs: () => number | undefined,
) {
  const { failure, durationSeconds } = health;
  const kind = failure && problem;
  return {
    state: health.state,
    // A failure that is no problem means that nothing is known.
    level: levelOf(kind, health.state === "succeeded" || kind !== undefined),
    reason: failure?.reason,
    message: failure?.message,
    failingSince: optionalInstant(health.failingSinceMs),
    lastSuccessAt: optionalInstant(health.lastSuccessAtMs),
    durationSeconds,
    // The next poll changes without the verdict.
    get nextPollAt() {
      return optionalInstant(nextPollAtMs());
    },
  };
}

function interfaceDocument(
  { reported, lastTransitionAtMs }: InterfaceSnapshot,
  appliance: string,
  isAlone: boolean,
) {
  const { name, vhid, vip, state, priority, device } = reported;
  const level = levelOf(interfaceProblem(state, isAlone));
  const lastTransitionAt = optionalInstant(lastTransitionAtMs);
  const key = subjectKeys.interface(appliance, interfaceName(reported));
  return { name, key, vhid, vip, state, level, priority, device, lastTransitionAt };
}
