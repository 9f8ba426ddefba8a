import { isDeepStrictEqual } from "node:util";
import { OPERATION_KINDS } from "../api/operations.ts";
import type { PresentedCertificate } from "../client/certificate.ts";
import type { Failure } from "../client/failure.ts";
import type { ApplianceConfig } from "../config/config.ts";
import { firstExpiryMs } from "../polling/freshness.ts";
import type { Observation, Operation } from "../polling/observation.ts";
import { FIRST_POLL_SPREAD_MS } from "../polling/schedule.ts";
import type { FleetChange } from "./changes.ts";
import { freshRecord, type OperationRecord, type RecordStep } from "./record.ts";
import type { Identity, TotalsSnapshot } from "./snapshot.ts";
import { afterVrrpPoll, type VrrpRecord } from "./vrrp.ts";
import { afterWebsitePoll, type WebsiteRecord } from "./website.ts";

/** Everything that is known about one appliance. Immutable. */
export interface ApplianceState {
  readonly config: ApplianceConfig;
  readonly identity: Identity;
  readonly vrrp: VrrpRecord;
  /** By website id, in the order of the configuration. */
  readonly websites: ReadonlyMap<number, WebsiteRecord>;
  readonly totals: TotalsSnapshot;
  /** Presented last, and kept until another is. */
  readonly certificate: PresentedCertificate | undefined;
}

export interface Step {
  readonly state: ApplianceState;
  readonly changes: readonly FleetChange[];
}

/** An appliance that was never polled, at the monotonic instant `nowMs`. */
export function newState(config: ApplianceConfig, nowMs: number): ApplianceState {
  const identity = identityOf(config);
  return {
    config,
    identity,
    vrrp: freshRecord(firstExpiryMs(config.polling.vrrp, nowMs)),
    websites: websitesFor(config, new Map(), nowMs),
    totals: totalsFor(config, identity),
    certificate: undefined,
  };
}

/** The same appliance under another configuration: what stays, by operation, keeps its record. */
export function reconfigured(state: ApplianceState, config: ApplianceConfig, nowMs: number): ApplianceState {
  const other = identityOf(config);
  const identity = isDeepStrictEqual(other, state.identity) ? state.identity : other;
  return {
    ...state,
    config,
    identity,
    websites: websitesFor(config, state.websites, nowMs),
    totals: totalsFor(config, identity, state.totals),
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
  const { websiteId } = observation;
  const before = state.websites.get(websiteId);
  const website = state.config.websites.find(({ id }) => id === websiteId);
  if (before === undefined || website === undefined) return { state, changes: [] };
  const step = afterWebsitePoll(before, observation, website, nowMs);
  const websites = new Map(state.websites).set(websiteId, step.record);
  return stepTo({ ...state, websites }, observation, before, step);
}

/** The part of a step that is the same for all operations. */
function stepTo(
  state: ApplianceState,
  observation: Observation,
  before: OperationRecord<unknown>,
  { record, changes }: RecordStep<OperationRecord<unknown>>,
): Step {
  const { certificate = state.certificate } = observation;
  const health = healthChange(observation, before.latest?.failure, record.latest?.failure);
  return {
    state: { ...state, certificate, totals: counted(state.totals, observation) },
    changes: [...health, ...changes],
  };
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

const NOT_POLLED = { polls: 0, failures: 0 };

/** Totals of website tests are shown only where there are websites. */
function totalsFor(
  { websites }: ApplianceConfig,
  identity: Identity,
  before?: TotalsSnapshot,
): TotalsSnapshot {
  const shown = OPERATION_KINDS.filter((kind) => kind === "vrrp" || websites.length > 0);
  if (before?.identity === identity && before.shown.length === shown.length) return before;
  const counts = before?.counts ?? { vrrp: NOT_POLLED, website_test: NOT_POLLED };
  return { kind: "totals", identity, shown, counts };
}

function counted(totals: TotalsSnapshot, { kind, outcome }: Observation): TotalsSnapshot {
  const { polls, failures } = totals.counts[kind];
  const counts = {
    ...totals.counts,
    [kind]: { polls: polls + 1, failures: failures + (outcome.ok ? 0 : 1) },
  };
  return { ...totals, counts };
}

function identityOf({ name, cluster, labels }: ApplianceConfig): Identity {
  return { appliance: name, cluster, labels };
}

function websitesFor(
  { websites, polling }: ApplianceConfig,
  known: ReadonlyMap<number, WebsiteRecord>,
  nowMs: number,
): ReadonlyMap<number, WebsiteRecord> {
  // Website tests begin when the first poll of the VRRP list has ended, and are spread as that is.
  const beginsMs = nowMs + FIRST_POLL_SPREAD_MS + polling.vrrp.timeoutMs;
  const fresh = (): WebsiteRecord => ({
    ...freshRecord(firstExpiryMs(polling.websites, beginsMs)),
    results: new Map(),
  });
  return new Map(websites.map(({ id }) => [id, known.get(id) ?? fresh()]));
}
