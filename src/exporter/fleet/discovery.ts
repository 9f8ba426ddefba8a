import { meaningOf } from "../api/failure.ts";
import type { ApplianceConfig } from "../config/config.ts";
import type { Observation } from "../polling/observation.ts";
import { firstExpiryMs } from "../polling/instants.ts";
import { kept } from "../../support/kept.ts";
import {
  afterPoll,
  freshRecord,
  recordAt,
  whileReachable,
  type DiscoveryRecords,
  type OperationRecord,
} from "./record.ts";
import type { VrrpRecord } from "./vrrp.ts";

/** Returns the records under a configuration, without websites that the latest valid list lacks; `undefined` without discovery. */
export function discoveryFor(
  before: DiscoveryRecords | undefined,
  { discovery, polling }: ApplianceConfig,
  nowMs: number,
): DiscoveryRecords | undefined {
  if (discovery === undefined) return undefined;
  // Discovery begins when the first poll of the VRRP list has ended.
  const fresh = freshRecord(firstExpiryMs(polling.discovery, nowMs + polling.vrrp.timeoutMs));
  const { list, details, first }: DiscoveryRecords = before ?? {
    list: fresh,
    details: new Map(),
    first: undefined,
  };
  if (list.seen === undefined) return { list, details, first };
  const excluded = new Set(discovery.exclude);
  const watched = list.seen.ids.filter((id) => !excluded.has(id)).slice(0, discovery.limit);
  const records = new Map(watched.map((id) => [id, details.get(id) ?? fresh]));
  return { list, details: records, first: first ?? new Set(watched) };
}

/** Replaces each record by the result of `change`; returns the same object if none changes. */
function withEach(
  records: DiscoveryRecords,
  change: <Record extends OperationRecord<unknown>>(record: Record) => Record,
): DiscoveryRecords {
  const list = change(records.list);
  const details = new Map(Array.from(records.details, ([id, record]) => [id, change(record)] as const));
  const isAsBefore = [...details].every(([id, record]) => record === records.details.get(id));
  return isAsBefore && list === records.list ? records : { ...records, list, details };
}

/** Returns the records at the monotonic instant `nowMs`. */
export function discoveryAt(records: DiscoveryRecords, nowMs: number): DiscoveryRecords {
  return withEach(records, (record) => recordAt(record, nowMs));
}

/** Returns the records after a poll of the VRRP list. While the appliance is out of reach, its earlier answers do not count. */
export function discoveryAfterVrrp(
  records: DiscoveryRecords,
  { failing, health }: VrrpRecord,
): DiscoveryRecords {
  const isDown = failing !== undefined && meaningOf(failing.reason).stopsOtherPolls === true;
  const downSinceMs = isDown ? health.failingSinceMs : undefined;
  return withEach(records, (record) => whileReachable(record, downSinceMs));
}

/** Returns the records after one more poll; a poll of a website that is gone changes nothing. */
export function afterDiscoveryPoll(
  records: DiscoveryRecords,
  observation: Observation & { readonly kind: "website_list" | "website_details" },
  config: ApplianceConfig,
  nowMs: number,
): DiscoveryRecords | undefined {
  if (observation.kind === "website_list") {
    const seen = observation.outcome.ok ? observation.outcome.value : undefined;
    const list = afterPoll(records.list, observation, nowMs, seen);
    return discoveryFor({ ...records, list }, config, nowMs);
  }
  const { websiteId, outcome } = observation;
  const before = records.details.get(websiteId);
  if (before === undefined) return records;
  const seen = outcome.ok ? kept(before.seen, outcome.value) : undefined;
  const now = afterPoll(before, observation, nowMs, seen);
  return { ...records, details: new Map(records.details).set(websiteId, now) };
}
