import { exportedStatuses } from "../api/website-test.ts";
import { isDeepStrictEqual } from "node:util";
import type { ApplianceConfig } from "../config/config.ts";
import { statusSetHas } from "../config/status-set.ts";
import { firstExpiryMs } from "../polling/freshness.ts";
import type { Observation } from "../polling/observation.ts";
import type { OperationKind } from "../api/operations.ts";
import type { PresentedCertificate } from "../client/certificate.ts";
import {
  anomaliesOf,
  anomalyChange,
  healthChange,
  statusChange,
  transitionChange,
  type Anomalies,
  type FleetChange,
} from "./changes.ts";
import {
  afterVrrpPoll,
  afterWebsitePoll,
  freshRecord,
  type VrrpRecord,
  type WebsiteRecord,
} from "./record.ts";
import type { Identity } from "./snapshot.ts";

/** Everything that is known about one appliance. Immutable. */
export interface ApplianceState {
  readonly config: ApplianceConfig;
  readonly identity: Identity;
  readonly vrrp: VrrpRecord;
  /** By website id, in the order of the configuration. */
  readonly websites: ReadonlyMap<number, WebsiteRecord>;
  readonly totals: PollTotals;
  /** Of the last good VRRP list. */
  readonly anomalies: Anomalies;
  /** Presented last, and kept until another is. */
  readonly certificate: PresentedCertificate | undefined;
}

/** Polls since the appliance was configured first. */
export type PollTotals = Readonly<
  Record<OperationKind, { readonly polls: number; readonly failures: number }>
>;

export interface Step {
  readonly state: ApplianceState;
  readonly changes: readonly FleetChange[];
}

/** An appliance of which nothing is known yet, at the monotonic instant `nowMs`. */
export function newState(config: ApplianceConfig, nowMs: number): ApplianceState {
  return {
    config,
    identity: identityOf(config),
    vrrp: freshRecord(firstExpiryMs(config.polling.vrrp, nowMs)),
    websites: websitesFor(config, new Map(), nowMs),
    totals: NOTHING_POLLED,
    anomalies: { count: 0, places: [] },
    certificate: undefined,
  };
}

/** The same appliance under another configuration: what stays, by operation, keeps its record. */
export function reconfigured(state: ApplianceState, config: ApplianceConfig, nowMs: number): ApplianceState {
  const identity = identityOf(config);
  return {
    ...state,
    config,
    identity: isDeepStrictEqual(identity, state.identity) ? state.identity : identity,
    websites: websitesFor(config, state.websites, nowMs),
  };
}

/**
 * What is remembered after one more observation, learned at the monotonic instant `nowMs`; that of a website which is gone
 * changes nothing.
 */
export function afterObservation(state: ApplianceState, observation: Observation, nowMs: number): Step {
  return observation.kind === "vrrp"
    ? afterVrrp(state, observation, nowMs)
    : afterWebsite(state, observation, nowMs);
}

function afterVrrp(state: ApplianceState, observation: Observation & { kind: "vrrp" }, nowMs: number): Step {
  const { outcome, certificate = state.certificate } = observation;
  const { record, transitions } = afterVrrpPoll(state.vrrp, observation, outcome, nowMs);
  const anomalies = outcome.ok ? anomaliesOf(outcome.value) : state.anomalies;
  const totals = counted(state.totals, observation);
  return {
    state: { ...state, vrrp: record, anomalies, certificate, totals },
    changes: [
      ...healthChange(observation, state.vrrp.latest?.failure, record.latest?.failure),
      ...anomalyChange(state.anomalies, anomalies),
      ...transitions.map(transitionChange),
    ],
  };
}

function afterWebsite(
  state: ApplianceState,
  observation: Observation & { kind: "website_test" },
  nowMs: number,
): Step {
  const { websiteId, outcome, certificate = state.certificate } = observation;
  const before = state.websites.get(websiteId);
  const website = state.config.websites.find(({ id }) => id === websiteId);
  if (before === undefined || website === undefined) return { state, changes: [] };
  const { name, expectStatus, protocols } = website;
  const statuses = outcome.ok
    ? ({ ok: true, value: exportedStatuses(outcome.value, protocols) } as const)
    : outcome;
  const expected = { protocols, isUp: (status: number) => statusSetHas(expectStatus, status) };
  const { record, changes } = afterWebsitePoll(before, observation, statuses, expected, nowMs);
  const websites = new Map([...state.websites, [websiteId, record]]);
  return {
    state: { ...state, websites, certificate, totals: counted(state.totals, observation) },
    changes: [
      ...healthChange(observation, before.latest?.failure, record.latest?.failure),
      ...changes.map((change) => statusChange(websiteId, name, change)),
    ],
  };
}

const NOT_POLLED = { polls: 0, failures: 0 };
const NOTHING_POLLED: PollTotals = { vrrp: NOT_POLLED, website_test: NOT_POLLED };

function counted(totals: PollTotals, { kind, outcome }: Observation): PollTotals {
  const { polls, failures } = totals[kind];
  return { ...totals, [kind]: { polls: polls + 1, failures: failures + (outcome.ok ? 0 : 1) } };
}

function identityOf({ name, cluster, labels }: ApplianceConfig): Identity {
  return { appliance: name, cluster, labels };
}

function websitesFor(
  { websites, polling }: ApplianceConfig,
  known: ReadonlyMap<number, WebsiteRecord>,
  nowMs: number,
): ReadonlyMap<number, WebsiteRecord> {
  // Website tests begin when the first poll of the VRRP list has ended.
  const beginsMs = nowMs + polling.vrrp.timeoutMs;
  const fresh = (): WebsiteRecord => ({
    ...freshRecord(firstExpiryMs(polling.websites, beginsMs)),
    results: new Map(),
  });
  return new Map(websites.map(({ id }) => [id, known.get(id) ?? fresh()]));
}
