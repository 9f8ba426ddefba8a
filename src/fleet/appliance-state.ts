import { OPERATION_KINDS } from "../api/operations.ts";
import type { ApplianceConfig } from "../config/config.ts";
import { firstExpiryMs } from "../polling/freshness.ts";
import type { Observation, Operation } from "../polling/observation.ts";
import type { WebsitePlan } from "../polling/appliance-poller.ts";
import { FIRST_POLL_SPREAD_MS } from "../polling/schedule.ts";
import { isSame, keptEqual } from "../support/kept.ts";
import type { FleetChange } from "./changes.ts";
import {
  afterDiscoveryPoll,
  discoveryAt,
  discoveryFor,
  discoverySection,
  type DiscoveryObservation,
  type DiscoveryRecords,
  type DiscoveryState,
} from "./discovery.ts";
import { isNotFound, knownWebsites, type KnownWebsite } from "./known-websites.ts";
import type { OperationRecord, OperationStep, Step } from "./record.ts";
import type { AnomaliesSnapshot, ApplianceSnapshot, Identity, TotalsSnapshot } from "./snapshot.ts";
import { afterVrrpPoll, vrrpAt, vrrpFor, type VrrpState } from "./vrrp.ts";
import { afterWebsitePoll, websiteAt, websiteFor, type WebsiteState } from "./website.ts";

/** Everything that is known about one appliance: what its snapshot shows, and what the next poll is compared with. Immutable. */
export interface ApplianceState extends ApplianceSnapshot {
  readonly config: ApplianceConfig;
  readonly vrrp: VrrpState;
  readonly discovery: DiscoveryState | undefined;
  /** Those configured first. */
  readonly known: readonly KnownWebsite[];
  readonly plan: WebsitePlan;
  /** Those that are tested. */
  readonly websites: readonly WebsiteState[];
  /** The monotonic instant until when, at least, time alone changes nothing. */
  readonly untilMs: number;
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
  const identity = keptEqual(before?.identity, { appliance: name, cluster, labels });
  const vrrp = vrrpFor(before?.vrrp, identity, firstExpiryMs(config.polling.vrrp, nowMs));
  const records = discoveryFor(before?.discovery?.records, config, nowMs);
  const websites = websitesFor({ config, identity }, records, before, nowMs);
  const totals = totalsFor(config, identity, before?.totals);
  return finished({ config, identity, vrrp, ...websites, totals }, before);
}

/** What is known at the monotonic instant `nowMs`: the operations that have expired have failed as `stalled`. */
export function stateAt(state: ApplianceState, nowMs: number): ApplianceState {
  if (nowMs < state.untilMs) return state;
  const before = state.discovery?.records;
  const records = before && discoveryAt(before, nowMs);
  const vrrp = vrrpAt(state.vrrp, nowMs);
  const websites = state.websites.map((website) => websiteAt(website, nowMs));
  const { identity, config, known } = state;
  const found = records === before ? {} : discoverySection(identity, config, records, known);
  return finished({ ...state, vrrp, websites, ...found }, state);
}

/**
 * What is known after one more observation, received at the monotonic instant `nowMs`; that of a website which is gone
 * changes nothing.
 */
export function afterObservation(
  state: ApplianceState,
  observation: Observation,
  nowMs: number,
): Step<ApplianceState> {
  const step = operationStep(state, observation, nowMs);
  if (step === undefined) return { state, changes: [] };
  const changes = [...healthChange(observation, step.before, step.now), ...step.changes];
  const { certificate = state.vrrp.certificate, expiresAtMs } = observation;
  const { vrrp } = step.state;
  const now = {
    ...step.state,
    vrrp: certificate === vrrp.certificate ? vrrp : { ...vrrp, certificate },
    totals: counted(state.totals, observation),
    untilMs: Math.min(step.state.untilMs, expiresAtMs),
  };
  return { state: { ...now, anomalies: anomaliesOf(now, state) }, changes };
}

function operationStep(
  state: ApplianceState,
  observation: Observation,
  nowMs: number,
): OperationStep<ApplianceState> | undefined {
  if (observation.kind === "vrrp") {
    const { state: vrrp, changes } = afterVrrpPoll(state.vrrp, observation, nowMs);
    return { state: { ...state, vrrp }, changes, before: state.vrrp, now: vrrp };
  }
  if (observation.kind !== "website_test") return discoveryStep(state, observation, nowMs);
  const at = state.websites.findIndex(({ websiteId }) => websiteId === observation.websiteId);
  const before = state.websites[at];
  if (before === undefined) return undefined;
  const { state: now, changes } = afterWebsitePoll(before, observation, nowMs);
  return { state: { ...state, websites: state.websites.with(at, now) }, changes, before, now };
}

function discoveryStep(
  state: ApplianceState,
  observation: DiscoveryObservation,
  nowMs: number,
): OperationStep<ApplianceState> | undefined {
  const { identity, config, known, discovery } = state;
  const step = discovery && afterDiscoveryPoll(discovery.records, observation, config, nowMs);
  if (step === undefined) return undefined;
  const { state: records, before, now } = step;
  // Most polls of details find nothing new.
  const isNew =
    observation.kind === "website_list" || before.seen !== now.seen || isNotFound(before) !== isNotFound(now);
  const websites = isNew
    ? websitesFor(state, records, state, nowMs)
    : discoverySection(identity, config, records, known);
  return { ...step, state: finished({ ...state, ...websites }, state) };
}

/** What was not sent is no news, and neither is a website that is gone: it is listed no more. */
function healthChange(
  operation: Operation,
  before: OperationRecord<unknown>,
  now: OperationRecord<unknown>,
): readonly FleetChange[] {
  const isDetails = operation.kind === "website_details";
  const [from, failure] = [before, now].map(({ failing }) =>
    isDetails && failing?.status === 404 ? undefined : failing,
  );
  if (failure?.reason === from?.reason) return [];
  if (failure !== undefined) return [{ kind: "failing", operation, failure }];
  return from === undefined ? [] : [{ kind: "recovered", operation, from }];
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

/** The websites that are known and tested; what stays as it was stays the same object. */
function websitesFor(
  { config, identity }: Pick<ApplianceState, "config" | "identity">,
  records: DiscoveryRecords | undefined,
  before: Pick<ApplianceState, "known" | "plan" | "websites"> | undefined,
  nowMs: number,
): Pick<ApplianceState, "discovery" | "found" | "known" | "plan" | "websites"> {
  const { polling } = config;
  // Website tests begin when the first poll of the VRRP list has ended, and are spread as that is.
  const expiresAtMs = firstExpiryMs(polling.websites, nowMs + FIRST_POLL_SPREAD_MS + polling.vrrp.timeoutMs);
  const details = records?.details ?? new Map();
  const known = knownWebsites(identity, config, details, before?.known ?? []);
  const tested = known.filter(({ isTested }) => isTested);
  const plan = { details: [...details.keys()], tests: tested.map(({ websiteId }) => websiteId) };
  const tests = new Map(before?.websites.map((website) => [website.websiteId, website]));
  return {
    ...discoverySection(identity, config, records, known),
    known,
    plan: keptEqual(before?.plan, plan),
    websites: tested.map((each) => websiteFor(tests.get(each.websiteId), each, expiresAtMs)),
  };
}

/** Adds what follows from the rest. */
function finished(
  state: Omit<ApplianceState, "anomalies" | "untilMs">,
  before: ApplianceState | undefined,
): ApplianceState {
  const { vrrp, websites, discovery } = state;
  const found =
    discovery === undefined ? [] : [discovery.records.list, ...discovery.records.details.values()];
  const records = [vrrp, ...websites, ...found];
  const untilMs = Math.min(...records.map(({ expiresAtMs }) => expiresAtMs));
  return { ...state, untilMs, anomalies: anomaliesOf(state, before) };
}

type Reported = Pick<ApplianceState, "identity" | "vrrp" | "discovery" | "found">;

/** Those of what is known; members of details that cannot be read are fields too. The same object until one of them changes. */
function anomaliesOf(now: Reported, before: ApplianceState | undefined): AnomaliesSnapshot {
  const madeOf = ({ identity, vrrp, discovery, found }: Reported) => [identity, vrrp.list, discovery, found];
  if (before !== undefined && isSame(madeOf(now), madeOf(before))) return before.anomalies;
  const {
    identity,
    vrrp: { list },
    discovery,
    found,
  } = now;
  const inDetails = found.reduce((sum, { details }) => sum + details.invalid.length, 0);
  const counts = {
    ...list?.anomalies,
    ...(list === undefined ? {} : { bad_field: list.anomalies.bad_field + inDetails }),
    ...(discovery?.badIds === undefined ? {} : { bad_website: discovery.badIds }),
  };
  return { kind: "anomalies", identity, counts };
}
