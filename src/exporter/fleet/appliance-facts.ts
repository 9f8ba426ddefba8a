import { OPERATION_KINDS, type Operation, type OperationKind } from "../api/operation.ts";
import type { ApplianceConfig } from "../config/config.ts";
import type { Observation } from "../polling/observation.ts";
import { FIRST_POLL_SPREAD_MS, firstExpiryMs } from "../polling/instants.ts";
import { kept, memo } from "../../support/kept.ts";
import { discovered } from "./discovered.ts";
import { afterDiscoveryPoll, discoveryAfterVrrp, discoveryAt, discoveryFor } from "./discovery.ts";
import { knownWebsites } from "./known-websites.ts";
import { isAbsent, operationAt, type DiscoveryFacts, type OperationFacts } from "./operation-facts.ts";
import type {
  AnomaliesSnapshot,
  ApplianceSnapshot,
  Identity,
  InventorySnapshot,
  KnownWebsite,
  TotalsSnapshot,
  VrrpListSnapshot,
} from "./snapshot.ts";
import { afterVrrpPoll, vrrpFor, type VrrpFacts } from "./vrrp.ts";
import { afterWebsitePoll, websiteAt, websiteFor, type WebsiteFacts } from "./website.ts";

/** The facts about one appliance: those of its snapshot, and those with which the next poll is compared. Immutable. */
export interface ApplianceFacts extends ApplianceSnapshot {
  readonly config: ApplianceConfig;
  readonly vrrp: VrrpFacts;
  /** The facts about the polls that discover websites; `undefined` without discovery. */
  readonly discoveryFacts: DiscoveryFacts | undefined;
  /** The websites that are tested. */
  readonly websites: readonly WebsiteFacts[];
  /** The monotonic instant until when time alone changes nothing. */
  readonly untilMs: number;
}

/**
 * Returns the facts under a configuration, at the monotonic instant `nowMs`. Operations that are also in `before` keep their facts;
 * without `before`, the appliance was never polled.
 */
export function applianceFor(
  before: ApplianceFacts | undefined,
  config: ApplianceConfig,
  nowMs: number,
): ApplianceFacts {
  const { polling } = config;
  const identity = kept(before?.identity, identityOf(config));
  const vrrp = vrrpFor(before?.vrrp, identity, firstExpiryMs(polling.vrrp, nowMs));
  const discoveryFacts = discoveryFor(before?.discoveryFacts, config, nowMs);
  const known = knownWebsites(identity, config, discoveryFacts, before?.known ?? []);
  const totals = totalsFor(config, identity, before?.totals);
  const websites = testsOf(known, before?.websites ?? [], config, nowMs);
  return complete({ config, identity, vrrp, discoveryFacts, known, websites, totals });
}

export function identityOf({ name, cluster, labels }: ApplianceConfig): Identity {
  return { appliance: name, cluster, labels };
}

/** Returns the facts at the monotonic instant `nowMs`, in which the operations that have expired have failed as `stalled`. */
export function applianceAt(appliance: ApplianceFacts, nowMs: number): ApplianceFacts {
  if (nowMs < appliance.untilMs) return appliance;
  const vrrp = operationAt(appliance.vrrp, nowMs);
  const discoveryFacts = appliance.discoveryFacts && discoveryAt(appliance.discoveryFacts, nowMs);
  const websites = appliance.websites.map((website) => websiteAt(website, nowMs));
  return complete({ ...appliance, vrrp, discoveryFacts, websites });
}

/** Returns the facts after one more observation, at the monotonic instant `nowMs`. An observation of a gone website changes nothing. */
export function afterObservation(
  before: ApplianceFacts,
  observation: Observation,
  nowMs: number,
): ApplianceFacts {
  if (factsOf(before, observation) === undefined) return before;
  const { identity, config, totals } = before;
  const { vrrp: polled, discoveryFacts, known, websites } = afterOperation(before, observation, nowMs);
  const { certificate = polled.certificate } = observation;
  const vrrp = certificate === polled.certificate ? polled : { ...polled, certificate };
  const counts = counted(totals, observation);
  return complete({ identity, config, totals: counts, vrrp, discoveryFacts, known, websites });
}

/** Returns the facts that an observation can replace. */
function afterOperation(before: ApplianceFacts, observation: Observation, nowMs: number): Replaced {
  const { config, vrrp, discoveryFacts, known, websites } = before;
  if (observation.kind === "vrrp") {
    const polled = afterVrrpPoll(vrrp, observation, nowMs);
    const reachable = discoveryFacts && discoveryAfterVrrp(discoveryFacts, polled);
    return { vrrp: polled, discoveryFacts: reachable, known, websites };
  }
  if (observation.kind === "website_test") {
    const at = websites.findIndex(({ websiteId }) => websiteId === observation.websiteId);
    const website = websites[at];
    if (website === undefined) return before;
    const tested = afterWebsitePoll(website, observation, nowMs);
    return { vrrp, discoveryFacts, known, websites: websites.with(at, tested) };
  }
  if (discoveryFacts === undefined) return before;
  const polled = afterDiscoveryPoll(discoveryFacts, observation, config, nowMs);
  const now = { vrrp, discoveryFacts: polled, known, websites };
  const [from, to] = [before, now].map((facts) => factsOf(facts, observation));
  // Most polls find nothing new.
  if (from?.seen === to?.seen && isAbsent(from) === isAbsent(to)) return now;
  const found = knownWebsites(before.identity, config, polled, known);
  return { vrrp, discoveryFacts: polled, known: found, websites: testsOf(found, websites, config, nowMs) };
}

type Replaced = Pick<ApplianceFacts, "vrrp" | "discoveryFacts" | "known" | "websites">;

type Polled = Pick<ApplianceFacts, "vrrp" | "discoveryFacts" | "websites">;

/** Returns the facts about an operation; `undefined` for an operation that is not polled. */
export function factsOf(
  { vrrp, discoveryFacts, websites }: Polled,
  operation: Operation,
): OperationFacts<unknown> | undefined {
  if (operation.kind === "vrrp") return vrrp;
  if (operation.kind === "website_list") return discoveryFacts?.list;
  if (operation.kind === "website_details") return discoveryFacts?.details.get(operation.websiteId);
  if (operation.kind === "website_test")
    return websites.find(({ websiteId }) => websiteId === operation.websiteId);
  return operation satisfies never;
}

/** Returns the operations that are polled, in the order in which they are first; the same list while they are the same. */
export function operationsIn({ identity, discoveryFacts, websites }: ApplianceFacts): readonly Operation[] {
  const details = discoveryFacts && [...discoveryFacts.details.keys()];
  return operationsOf(identity, { details, tests: websites.map(({ websiteId }) => websiteId) });
}

const operationsOf = memo((ids: Ids) => OPERATION_KINDS.flatMap((kind) => BY_KIND[kind](ids)));

/** The ids of websites; `details` is `undefined` without discovery. */
type Ids = Readonly<Record<"details" | "tests", readonly number[] | undefined>>;

const BY_KIND: Readonly<Record<OperationKind, (ids: Ids) => readonly Operation[]>> = {
  vrrp: () => [{ kind: "vrrp" }],
  website_list: ({ details }) => (details === undefined ? [] : [{ kind: "website_list" }]),
  website_details: ({ details = [] }) => details.map((websiteId) => ({ kind: "website_details", websiteId })),
  website_test: ({ tests = [] }) => tests.map((websiteId) => ({ kind: "website_test", websiteId })),
};

/** Returns the totals, from zero for everything that may be polled of the appliance: with discovery, each operation of a website. */
function totalsFor(
  { websites, discovery }: ApplianceConfig,
  identity: Identity,
  before: TotalsSnapshot | undefined,
): TotalsSnapshot {
  const details = discovery && [0];
  const ids = { details, tests: [...websites.map(({ id }) => id), ...(details ?? [])] };
  const kinds = OPERATION_KINDS.filter((kind) => BY_KIND[kind](ids).length > 0);
  const counts = kinds.map((kind) => [kind, before?.counts[kind] ?? { polls: 0, failures: 0 }] as const);
  return { kind: "totals", identity, counts: Object.fromEntries(counts) };
}

function counted(totals: TotalsSnapshot, { kind, outcome }: Observation): TotalsSnapshot {
  const { polls, failures } = totals.counts[kind] ?? { polls: 0, failures: 0 };
  const count = { polls: polls + 1, failures: failures + (outcome.ok ? 0 : 1) };
  return { ...totals, counts: { ...totals.counts, [kind]: count } };
}

/** Returns the tests of the websites that are known now. */
function testsOf(
  known: readonly KnownWebsite[],
  before: readonly WebsiteFacts[],
  { polling }: ApplianceConfig,
  nowMs: number,
): readonly WebsiteFacts[] {
  // Website tests begin when the first poll of the VRRP list has ended, and are spread like that poll.
  const expiresAtMs = firstExpiryMs(polling.websites, nowMs + FIRST_POLL_SPREAD_MS + polling.vrrp.timeoutMs);
  const tests = new Map(before.map((website) => [website.websiteId, website]));
  const tested = known.filter(({ isTested }) => isTested);
  return tested.map((each) => websiteFor(tests.get(each.websiteId), each, expiresAtMs));
}

/** Adds what follows from the facts. Sections with the same facts as before stay the same objects. */
function complete(
  facts: Omit<ApplianceFacts, "discovery" | "inventory" | "results" | "anomalies" | "untilMs">,
): ApplianceFacts {
  const { identity, config, totals, vrrp, discoveryFacts, known, websites } = facts;
  const { discovery, inventory } = discovered(identity, { identity, config, discoveryFacts, known });
  const results = sameResults(identity, { results: websites.map((website) => website.results) });
  const badIds = discoveryFacts?.list.found?.invalid.length;
  const anomalies = anomaliesOf(identity, {
    identity,
    list: vrrp.found?.list,
    found: inventory.found,
    badIds,
  });
  return {
    identity,
    config,
    totals,
    vrrp,
    discoveryFacts,
    known,
    websites,
    discovery,
    inventory,
    results,
    anomalies,
    untilMs: firstExpiry(facts),
  };
}

const sameResults = memo(({ results }: Pick<ApplianceSnapshot, "results">) => results);

type Expiring = Iterable<Pick<OperationFacts<unknown>, "expiresAtMs">>;

/** The facts about each operation. The results of polls expire with them, so no operation can lack them. */
const FACTS: Readonly<Record<OperationKind, (facts: Polled) => Expiring>> = {
  vrrp: ({ vrrp }) => [vrrp],
  website_list: ({ discoveryFacts }) => (discoveryFacts === undefined ? [] : [discoveryFacts.list]),
  website_details: ({ discoveryFacts }) => discoveryFacts?.details.values() ?? [],
  website_test: ({ websites }) => websites,
};
const ALL_FACTS = Object.values(FACTS);

/**
 * Returns the instant at which the first of the operations expires. The loops are plain, since each poll goes through hundreds of websites.
 */
function firstExpiry(facts: Polled): number {
  let untilMs = Number.POSITIVE_INFINITY;
  for (const eachOf of ALL_FACTS)
    for (const { expiresAtMs } of eachOf(facts)) untilMs = Math.min(untilMs, expiresAtMs);
  return untilMs;
}

interface AnomalyInputs extends Pick<InventorySnapshot, "identity" | "found"> {
  readonly list: VrrpListSnapshot | undefined;
  /** The number of entries of the list of websites that are no ids. */
  readonly badIds: number | undefined;
}

/** Counts what is known. Members of details that cannot be read are fields too. */
const anomaliesOf = memo(({ identity, list, found, badIds }: AnomalyInputs): AnomaliesSnapshot => {
  const inDetails = found.reduce((sum, { details }) => sum + details.invalid.length, 0);
  const counts = {
    ...list?.anomalies,
    ...(list === undefined ? {} : { bad_field: list.anomalies.bad_field + inDetails }),
    ...(badIds === undefined ? {} : { bad_website: badIds }),
  };
  return { kind: "anomalies", identity, counts };
});
