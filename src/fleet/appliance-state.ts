import { isDeepStrictEqual } from "node:util";
import { OPERATION_KINDS } from "../api/operations.ts";
import type { WebsiteDetails } from "../api/website-details.ts";
import type { PresentedCertificate } from "../client/certificate.ts";
import type { Failure } from "../client/failure.ts";
import type { ApplianceConfig } from "../config/config.ts";
import { firstExpiryMs } from "../polling/freshness.ts";
import type { Observation, Operation } from "../polling/observation.ts";
import type { WebsitePlan } from "../polling/appliance-poller.ts";
import { FIRST_POLL_SPREAD_MS } from "../polling/schedule.ts";
import type { FleetChange } from "./changes.ts";
import { afterDetailsPoll, afterListPoll, discoveryFor, isTakenOver, type Discovery } from "./discovery.ts";
import { addressOf, isNotFound, knownWebsites, type KnownWebsite } from "./known-websites.ts";
import { freshRecord, type OperationRecord, type RecordStep } from "./record.ts";
import type { Identity, TotalsSnapshot } from "./snapshot.ts";
import { afterVrrpPoll, type VrrpRecord } from "./vrrp.ts";
import { afterWebsitePoll, type WebsiteRecord } from "./website.ts";

/** Everything that is known about one appliance. Immutable. */
export interface ApplianceState {
  readonly config: ApplianceConfig;
  readonly identity: Identity;
  readonly vrrp: VrrpRecord;
  /** `undefined` if its websites are not discovered. */
  readonly discovery: Discovery | undefined;
  /** Those configured first. */
  readonly known: readonly KnownWebsite[];
  readonly plan: WebsitePlan;
  readonly tests: readonly TestedWebsite[];
  readonly totals: TotalsSnapshot;
  /** Presented last, and kept until another is. */
  readonly certificate: PresentedCertificate | undefined;
}

/** A website that is tested, and what its tests found. */
export interface TestedWebsite {
  readonly website: KnownWebsite;
  readonly record: WebsiteRecord;
}

export interface Step {
  readonly state: ApplianceState;
  readonly changes: readonly FleetChange[];
}

/**
 * What is known under a configuration, at the monotonic instant `nowMs`. What stays of `before`, by operation, keeps its
 * record; without it, the appliance was never polled.
 */
export function stateFor(
  before: ApplianceState | undefined,
  config: ApplianceConfig,
  nowMs: number,
): ApplianceState {
  const { name, cluster, labels } = config;
  const other = { appliance: name, cluster, labels };
  const known = before?.identity;
  const identity = known !== undefined && isDeepStrictEqual(known, other) ? known : other;
  return {
    config,
    identity,
    vrrp: before?.vrrp ?? freshRecord(firstExpiryMs(config.polling.vrrp, nowMs)),
    ...websitesFor(config, discoveryFor(before?.discovery, config, nowMs), before, nowMs),
    totals: totalsFor(config, identity, before?.totals),
    certificate: before?.certificate,
  };
}

/**
 * What is known after one more observation, received at the monotonic instant `nowMs`; that of a website which is gone
 * changes nothing.
 */
export function afterObservation(state: ApplianceState, observation: Observation, nowMs: number): Step {
  if (observation.kind === "vrrp") {
    const step = afterVrrpPoll(state.vrrp, observation, nowMs);
    return stepTo({ ...state, vrrp: step.record }, observation, state.vrrp, step);
  }
  if (observation.kind !== "website_test") return afterDiscovery(state, observation, nowMs);
  const at = placeOf(state, observation.websiteId);
  const before = state.tests[at];
  if (before === undefined) return { state, changes: [] };
  const { website } = before;
  const step = afterWebsitePoll(before.record, observation, website, nowMs);
  const tests = state.tests.with(at, { website, record: step.record });
  return stepTo({ ...state, tests }, observation, before.record, step);
}

/** The place of a website among those that are tested; -1 if it is not. */
export function placeOf({ tests }: ApplianceState, websiteId: number): number {
  return tests.findIndex(({ website }) => website.id === websiteId);
}

function afterDiscovery(
  state: ApplianceState,
  observation: Observation & { readonly kind: "website_list" | "website_details" },
  nowMs: number,
): Step {
  const { discovery, config, tests } = state;
  if (discovery === undefined) return { state, changes: [] };
  if (observation.kind === "website_list") {
    const now = afterListPoll(discovery, observation, config, nowMs);
    const isSame = now.details === discovery.details;
    const next = { ...state, ...(isSame ? { discovery: now } : websitesFor(config, now, state, nowMs)) };
    const changes = healthChange(observation, newsOf(discovery.list), newsOf(now.list));
    return { state: observedBy(observation, next), changes };
  }
  const { websiteId } = observation;
  const now = afterDetailsPoll(discovery, observation, nowMs);
  const [before, record] = [discovery.details.get(websiteId), now.details.get(websiteId)];
  if (before === undefined || record === undefined) return { state, changes: [] };
  // Most polls find nothing new.
  const isSame = before.seen === record.seen && isNotFound(before) === isNotFound(record);
  const kept = isTakenOver(before.seen, record.seen)
    ? tests.filter(({ website }) => website.id !== websiteId)
    : tests;
  const found = isSame ? { discovery: now } : websitesFor(config, now, { ...state, tests: kept }, nowMs);
  const next = { ...state, ...found };
  const changes = [
    ...healthChange(observation, newsOf(before), newsOf(record)),
    ...detailsChange(before, record),
  ];
  return { state: observedBy(observation, next), changes };
}

/** The failure that is news: what was not sent says nothing, and a website that is gone is listed no more. */
function newsOf({ sentFailure }: OperationRecord<unknown>): Failure | undefined {
  return sentFailure?.reason !== "unsupported" && sentFailure?.status === 404 ? undefined : sentFailure;
}

function detailsChange(
  before: OperationRecord<WebsiteDetails>,
  now: OperationRecord<WebsiteDetails>,
): readonly FleetChange[] {
  const isGone = now.health.failure?.status === 404 && before.health.failure?.status !== 404;
  if (isGone) return [{ kind: "website_gone" }];
  const isOther = before.seen !== undefined && before.seen !== now.seen;
  return isOther ? [{ kind: "website_changed", address: addressOf(before.seen) }] : [];
}

/** The part of a step that is the same for all operations. */
function stepTo(
  state: ApplianceState,
  observation: Observation,
  before: OperationRecord<unknown>,
  { record, changes }: RecordStep<OperationRecord<unknown>>,
): Step {
  const health = healthChange(observation, before.health.failure, record.health.failure);
  return { state: observedBy(observation, state), changes: [...health, ...changes] };
}

function observedBy(observation: Observation, state: ApplianceState): ApplianceState {
  const { certificate = state.certificate } = observation;
  return { ...state, certificate, totals: counted(state.totals, observation) };
}

function healthChange(
  operation: Operation,
  before: Failure | undefined,
  now: Failure | undefined,
): readonly FleetChange[] {
  if (now !== undefined)
    return now.reason === before?.reason ? [] : [{ kind: "failing", operation, failure: now }];
  return before === undefined ? [] : [{ kind: "recovered", operation, from: before }];
}

/** Only of what the appliance is polled for. */
function totalsFor(
  { websites, discovery }: ApplianceConfig,
  identity: Identity,
  before: TotalsSnapshot | undefined,
): TotalsSnapshot {
  const kinds = OPERATION_KINDS.filter((kind) => {
    if (kind === "vrrp" || discovery !== undefined) return true;
    return kind === "website_test" && websites.length > 0;
  });
  const counts = kinds.map((kind) => [kind, before?.counts[kind] ?? { polls: 0, failures: 0 }] as const);
  return { kind: "totals", identity, counts: Object.fromEntries(counts) };
}

function counted(totals: TotalsSnapshot, { kind, outcome }: Observation): TotalsSnapshot {
  const { polls, failures } = totals.counts[kind] ?? { polls: 0, failures: 0 };
  const count = { polls: polls + 1, failures: failures + (outcome.ok ? 0 : 1) };
  return { ...totals, counts: { ...totals.counts, [kind]: count } };
}

type Websites = Pick<ApplianceState, "discovery" | "known" | "plan" | "tests">;

/** The websites that are tested; what stays as it was stays the same object. */
function websitesFor(
  config: ApplianceConfig,
  discovery: Discovery | undefined,
  before: Pick<ApplianceState, "known" | "plan" | "tests"> | undefined,
  nowMs: number,
): Websites {
  const { polling } = config;
  // Website tests begin when the first poll of the VRRP list has ended, and are spread as that is.
  const beginsMs = nowMs + FIRST_POLL_SPREAD_MS + polling.vrrp.timeoutMs;
  const fresh = (): WebsiteRecord => ({
    ...freshRecord(firstExpiryMs(polling.websites, beginsMs)),
    results: new Map(),
  });
  const details = discovery?.details ?? new Map();
  const known = knownWebsites(config, details, before?.known ?? []);
  const tested = known.filter(({ isTested }) => isTested);
  const plan = { details: [...details.keys()], tests: tested.map(({ id }) => id) };
  const records = new Map(before?.tests.map(({ website, record }) => [website.id, record]));
  return {
    discovery,
    known,
    plan: before !== undefined && isDeepStrictEqual(plan, before.plan) ? before.plan : plan,
    tests: tested.map((website) => ({ website, record: records.get(website.id) ?? fresh() })),
  };
}
