import { operationsOf, type Operation, type OperationKind } from "../api/operations.ts";
import type { ApplianceConfig } from "../config/config.ts";
import type { Observation } from "../polling/observation.ts";
import { FIRST_POLL_SPREAD_MS, firstExpiryMs } from "../polling/instants.ts";
import { kept, memo } from "../../support/kept.ts";
import { discovered } from "./discovered.ts";
import { afterDiscoveryPoll, discoveryAfterVrrp, discoveryAt, discoveryFor } from "./discovery.ts";
import { knownWebsites } from "./known-websites.ts";
import { isAbsent, recordAt, type DiscoveryRecords, type OperationRecord } from "./record.ts";
import type {
  AnomaliesSnapshot,
  ApplianceSnapshot,
  Identity,
  InventorySnapshot,
  KnownWebsite,
  TotalsSnapshot,
  VrrpListSnapshot,
} from "./snapshot.ts";
import { afterVrrpPoll, vrrpFor, type VrrpRecord } from "./vrrp.ts";
import { afterWebsitePoll, websiteAt, websiteFor, type WebsiteRecord } from "./website.ts";

/** The facts about one appliance: those of its snapshot, and those with which the next poll is compared. Immutable. */
export interface ApplianceRecord extends ApplianceSnapshot {
  readonly config: ApplianceConfig;
  readonly vrrp: VrrpRecord;
  /** The records of the polls that discover websites; `undefined` without discovery. */
  readonly records: DiscoveryRecords | undefined;
  /** The websites that are tested. */
  readonly websites: readonly WebsiteRecord[];
  /** The monotonic instant until when time alone changes nothing. */
  readonly untilMs: number;
}

/**
 * Returns the record under a configuration, at the monotonic instant `nowMs`. Operations that are also in `before` keep their records;
 * without `before`, the appliance was never polled.
 */
export function applianceFor(
  before: ApplianceRecord | undefined,
  config: ApplianceConfig,
  nowMs: number,
): ApplianceRecord {
  const { polling } = config;
  const identity = kept(before?.identity, identityOf(config));
  const vrrp = vrrpFor(before?.vrrp, identity, firstExpiryMs(polling.vrrp, nowMs));
  const records = discoveryFor(before?.records, config, nowMs);
  const known = knownWebsites({ identity, config, records }, before?.known ?? []);
  const totals = totalsFor(config, identity, before?.totals);
  const websites = testsOf(known, before?.websites ?? [], config, nowMs);
  return complete({ config, identity, vrrp, records, known, websites, totals });
}

export function identityOf({ name, cluster, labels }: ApplianceConfig): Identity {
  return { appliance: name, cluster, labels };
}

/** Returns the record at the monotonic instant `nowMs`, in which the operations that have expired have failed as `stalled`. */
export function applianceAt(appliance: ApplianceRecord, nowMs: number): ApplianceRecord {
  if (nowMs < appliance.untilMs) return appliance;
  const vrrp = recordAt(appliance.vrrp, nowMs);
  const records = appliance.records && discoveryAt(appliance.records, nowMs);
  const websites = appliance.websites.map((website) => websiteAt(website, nowMs));
  return complete({ ...appliance, vrrp, records, websites });
}

/** Returns the record after one more observation, at the monotonic instant `nowMs`. An observation of a gone website changes nothing. */
export function afterObservation(
  before: ApplianceRecord,
  observation: Observation,
  nowMs: number,
): ApplianceRecord {
  if (recordOf(before, observation) === undefined) return before;
  const now = afterOperation(before, observation, nowMs);
  const { certificate = now.vrrp.certificate } = observation;
  const vrrp = certificate === now.vrrp.certificate ? now.vrrp : { ...now.vrrp, certificate };
  return complete({ ...now, vrrp, totals: counted(now.totals, observation) });
}

/** Returns the record with what the observation replaces; what follows from that is as before. */
function afterOperation(before: ApplianceRecord, observation: Observation, nowMs: number): ApplianceRecord {
  if (observation.kind === "vrrp") {
    const vrrp = afterVrrpPoll(before.vrrp, observation, nowMs);
    return { ...before, vrrp, records: before.records && discoveryAfterVrrp(before.records, vrrp) };
  }
  if (observation.kind === "website_test") {
    const at = before.websites.findIndex(({ websiteId }) => websiteId === observation.websiteId);
    const website = before.websites[at];
    if (website === undefined) return before;
    return { ...before, websites: before.websites.with(at, afterWebsitePoll(website, observation, nowMs)) };
  }
  if (before.records === undefined) return before;
  const now = { ...before, records: afterDiscoveryPoll(before.records, observation, before.config, nowMs) };
  const [from, to] = [before, now].map((facts) => recordOf(facts, observation));
  // Most polls find nothing new.
  if (from?.seen === to?.seen && isAbsent(from) === isAbsent(to)) return now;
  const known = knownWebsites(now, before.known);
  return { ...now, known, websites: testsOf(known, before.websites, before.config, nowMs) };
}

type Polled = Pick<ApplianceRecord, "vrrp" | "records" | "websites">;

/** Returns the record of an operation; `undefined` for an operation that is not polled. */
export function recordOf(
  { vrrp, records, websites }: Polled,
  operation: Operation,
): OperationRecord<unknown> | undefined {
  if (operation.kind === "vrrp") return vrrp;
  if (operation.kind === "website_list") return records?.list;
  if (operation.kind === "website_details") return records?.details.get(operation.websiteId);
  if (operation.kind === "website_test")
    return websites.find(({ websiteId }) => websiteId === operation.websiteId);
  return operation satisfies never;
}

/** Returns the totals, from zero for everything that may be polled of the appliance: with discovery, each operation of a website. */
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

/** Returns the tests of the websites that are known now. */
function testsOf(
  known: readonly KnownWebsite[],
  before: readonly WebsiteRecord[],
  { polling }: ApplianceConfig,
  nowMs: number,
): readonly WebsiteRecord[] {
  // Website tests begin when the first poll of the VRRP list has ended, and are spread like that poll.
  const expiresAtMs = firstExpiryMs(polling.websites, nowMs + FIRST_POLL_SPREAD_MS + polling.vrrp.timeoutMs);
  const tests = new Map(before.map((website) => [website.websiteId, website]));
  const tested = known.filter(({ isTested }) => isTested);
  return tested.map((each) => websiteFor(tests.get(each.websiteId), each, expiresAtMs));
}

/** Adds what follows from the facts. Sections with the same facts as before stay the same objects. */
function complete(
  facts: Omit<ApplianceRecord, "discovery" | "inventory" | "results" | "anomalies" | "untilMs">,
): ApplianceRecord {
  const { identity, config, vrrp, records, known } = facts;
  const { discovery, inventory } = discovered(identity, { identity, config, records, known });
  const results = sameResults(identity, { results: facts.websites.map((website) => website.results) });
  const badIds = records?.list.found?.invalid.length;
  const anomalies = anomaliesOf(identity, {
    identity,
    list: vrrp.found?.list,
    found: inventory.found,
    badIds,
  });
  return { ...facts, discovery, inventory, results, anomalies, untilMs: firstExpiry(facts) };
}

const sameResults = memo(({ results }: Pick<ApplianceSnapshot, "results">) => results);

type Records = Iterable<Pick<OperationRecord<unknown>, "expiresAtMs">>;

/** The records of each operation. The results of polls expire with their records, so no operation can lack them. */
const RECORDS: Readonly<Record<OperationKind, (facts: Polled) => Records>> = {
  vrrp: ({ vrrp }) => [vrrp],
  website_list: ({ records }) => (records === undefined ? [] : [records.list]),
  website_details: ({ records }) => records?.details.values() ?? [],
  website_test: ({ websites }) => websites,
};
const ALL_RECORDS = Object.values(RECORDS);

/**
 * Returns the instant at which the first of the operations expires. The loops are plain, since each poll goes through hundreds of websites.
 */
function firstExpiry(facts: Polled): number {
  let untilMs = Number.POSITIVE_INFINITY;
  for (const recordsOf of ALL_RECORDS)
    for (const { expiresAtMs } of recordsOf(facts)) untilMs = Math.min(untilMs, expiresAtMs);
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
