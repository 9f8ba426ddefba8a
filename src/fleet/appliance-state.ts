import { operationsOf, type Operation } from "../api/operations.ts";
import type { ApplianceConfig } from "../config/config.ts";
import type { Observation } from "../polling/observation.ts";
import { FIRST_POLL_SPREAD_MS, firstExpiryMs } from "../polling/pace.ts";
import { kept } from "../support/kept.ts";
import type { FleetChange, Step } from "./changes.ts";
import {
  afterDiscoveryPoll,
  discovered,
  discoveryAfterVrrp,
  discoveryAt,
  discoveryFor,
  knownWebsites,
  type WebsiteFacts,
} from "./discovery.ts";
import { isGone, whileKnown, type OperationRecord } from "./record.ts";
import type { AnomaliesSnapshot, ApplianceSnapshot, Identity, TotalsSnapshot } from "./snapshot.ts";
import { afterVrrpPoll, vrrpAt, vrrpFor, type VrrpState } from "./vrrp.ts";
import { afterWebsitePoll, websiteAt, websiteFor, type WebsiteState } from "./website.ts";

/** Everything that is known about one appliance: what its snapshot shows, and what the next poll is compared with. Immutable. */
export interface ApplianceState extends ApplianceSnapshot, WebsiteFacts {
  readonly known: WebsiteFacts["known"];
  readonly vrrp: VrrpState;
  /** Those that are tested. */
  readonly websites: readonly WebsiteState[];
  /** The monotonic instant until when time alone changes nothing. */
  readonly untilMs: number;
}

/** What a poll or a configuration replaces; the rest follows from it. */
type Facts = Omit<ApplianceState, "discovery" | "found" | "anomalies" | "untilMs">;

/**
 * What is known under a configuration, at the monotonic instant `nowMs`. What stays of `before`, by operation, keeps its
 * record; without it, the appliance was never polled.
 */
export function stateFor(
  before: ApplianceState | undefined,
  config: ApplianceConfig,
  nowMs: number,
): ApplianceState {
  const { polling } = config;
  const identity = kept(before?.identity, identityOf(config));
  const vrrp = vrrpFor(before?.vrrp, identity, firstExpiryMs(polling.vrrp, nowMs));
  const records = discoveryFor(before?.records, config, nowMs);
  const totals = totalsFor(config, identity, before?.totals);
  const { known = [], websites = [] } = before ?? {};
  const facts = { config, identity, vrrp, records, known, websites, totals };
  return stateOf(withTests({ ...facts, known: knownWebsites(facts) }, nowMs), before);
}

export function identityOf({ name, cluster, labels }: ApplianceConfig): Identity {
  return { appliance: name, cluster, labels };
}

/** What is known at the monotonic instant `nowMs`: the operations that have expired have failed as `stalled`. */
export function stateAt(state: ApplianceState, nowMs: number): ApplianceState {
  if (nowMs < state.untilMs) return state;
  const vrrp = vrrpAt(state.vrrp, nowMs);
  const records = state.records && discoveryAt(state.records, nowMs);
  const websites = state.websites.map((website) => websiteAt(website, nowMs));
  return stateOf({ ...state, vrrp, records, websites }, state);
}

/** What is known after one more observation, at the monotonic instant `nowMs`; that of a gone website changes nothing. */
export function afterObservation(
  before: ApplianceState,
  observation: Observation,
  nowMs: number,
): Step<ApplianceState> {
  if (recordOf(before, observation) === undefined) return { state: before, changes: [] };
  const { state: now, changes } = afterOperation(before, observation, nowMs);
  const { certificate = now.vrrp.certificate } = observation;
  const vrrp = certificate === now.vrrp.certificate ? now.vrrp : { ...now.vrrp, certificate };
  return {
    state: stateOf({ ...now, vrrp, totals: counted(now.totals, observation) }, before),
    changes: [...healthChange(observation, before, now), ...changes],
  };
}

function afterOperation(before: Facts, observation: Observation, nowMs: number): Step<Facts> {
  if (observation.kind === "vrrp") {
    const { state: vrrp, changes } = afterVrrpPoll(before.vrrp, observation, nowMs);
    const records = before.records && discoveryAfterVrrp(before.records, vrrp);
    return { state: { ...before, vrrp, records }, changes };
  }
  if (observation.kind === "website_test") {
    const at = before.websites.findIndex(({ websiteId }) => websiteId === observation.websiteId);
    const website = before.websites[at];
    if (website === undefined) return { state: before, changes: [] };
    const { state, changes } = afterWebsitePoll(website, observation, nowMs);
    return { state: { ...before, websites: before.websites.with(at, state) }, changes };
  }
  const { state, changes } = afterDiscoveryPoll(before, observation, nowMs);
  // Most polls find nothing new.
  return { state: state.known === before.known ? state : withTests(state, nowMs), changes };
}

/** `undefined` for an operation that is not polled. */
function recordOf(
  { vrrp, records, websites }: Facts,
  operation: Operation,
): OperationRecord<unknown> | undefined {
  if (operation.kind === "vrrp") return vrrp;
  if (operation.kind === "website_list") return records?.list;
  if (operation.kind === "website_details") return records?.details.get(operation.websiteId);
  if (operation.kind === "website_test")
    return websites.find(({ websiteId }) => websiteId === operation.websiteId);
  return operation satisfies never;
}

/** What was not sent is no news, and neither is a website that is gone: it is listed no more. */
function healthChange(operation: Operation, before: Facts, now: Facts): readonly FleetChange[] {
  const [from, failure] = [before, now].map((facts) => {
    const record = recordOf(facts, operation);
    return operation.kind === "website_details" && isGone(record) ? undefined : record?.failing;
  });
  if (failure?.reason === from?.reason) return [];
  if (failure !== undefined) return [{ kind: "failing", operation, failure }];
  return from === undefined ? [] : [{ kind: "recovered", operation, from }];
}

/** From zero for what the appliance may be polled for: with discovery, each operation of a website. */
function totalsFor(
  { websites, discovery }: ApplianceConfig,
  identity: Identity,
  before: TotalsSnapshot | undefined,
): TotalsSnapshot {
  const isDiscovering = discovery !== undefined;
  const details = isDiscovering ? [0] : [];
  const tests = [...websites.map(({ id }) => id), ...details];
  const operations = operationsOf({ isDiscovering, details, tests });
  const counts = operations.map(
    ({ kind }) => [kind, before?.counts[kind] ?? { polls: 0, failures: 0 }] as const,
  );
  return { kind: "totals", identity, counts: Object.fromEntries(counts) };
}

function counted(totals: TotalsSnapshot, { kind, outcome }: Observation): TotalsSnapshot {
  const { polls, failures } = totals.counts[kind] ?? { polls: 0, failures: 0 };
  const count = { polls: polls + 1, failures: failures + (outcome.ok ? 0 : 1) };
  return { ...totals, counts: { ...totals.counts, [kind]: count } };
}

/** With the tests of the websites that are known now. */
function withTests(facts: Facts, nowMs: number): Facts {
  const { polling } = facts.config;
  // Website tests begin when the first poll of the VRRP list has ended, and are spread as that is.
  const expiresAtMs = firstExpiryMs(polling.websites, nowMs + FIRST_POLL_SPREAD_MS + polling.vrrp.timeoutMs);
  const tests = new Map(facts.websites.map((website) => [website.websiteId, website]));
  const tested = facts.known.filter(({ isTested }) => isTested);
  const websites = tested.map((each) => websiteFor(tests.get(each.websiteId), each, expiresAtMs));
  return { ...facts, websites };
}

/** Adds what follows from the facts; sections that are as `before` stay the same objects. */
function stateOf(facts: Facts, before: ApplianceState | undefined): ApplianceState {
  const { vrrp, records, known } = facts;
  const isAsBefore = records === before?.records && known === before?.known;
  const { discovery, found } = isAsBefore ? before : discovered(facts, before?.found);
  const state = { ...facts, discovery, found, untilMs: firstExpiry(facts) };
  if (isAsBefore && vrrp.list === before.vrrp.list) return { ...state, anomalies: before.anomalies };
  return { ...state, anomalies: anomaliesOf(state, before?.anomalies) };
}

/** When the first of the operations expires. Plain loops: each poll goes through hundreds of websites. */
function firstExpiry({ vrrp, records, websites }: Facts): number {
  let untilMs = vrrp.expiresAtMs;
  for (const { expiresAtMs } of websites) untilMs = Math.min(untilMs, expiresAtMs);
  if (records === undefined) return untilMs;
  for (const { expiresAtMs } of records.details.values()) untilMs = Math.min(untilMs, expiresAtMs);
  return Math.min(untilMs, records.list.expiresAtMs);
}

/** Of what is known; members of details that cannot be read are fields too. */
function anomaliesOf(
  { identity, vrrp: { list }, records, found }: Omit<ApplianceState, "anomalies">,
  before: AnomaliesSnapshot | undefined,
): AnomaliesSnapshot {
  const inDetails = found.reduce((sum, { details }) => sum + details.invalid.length, 0);
  const badIds = whileKnown(records?.list)?.invalid.length;
  const counts = {
    ...list?.anomalies,
    ...(list === undefined ? {} : { bad_field: list.anomalies.bad_field + inDetails }),
    ...(badIds === undefined ? {} : { bad_website: badIds }),
  };
  return kept(before, { kind: "anomalies", identity, counts });
}
