import type { WebsiteDetails } from "../api/website-details.ts";
import type { WebsiteList } from "../api/website-list.ts";
import { meaningOf } from "../client/failure.ts";
import type { ApplianceConfig } from "../config/config.ts";
import type { Observation } from "../polling/observation.ts";
import { firstExpiryMs } from "../polling/pace.ts";
import { kept } from "../support/kept.ts";
import { afterPoll, freshRecord, recordAt, whileReachable, type OperationRecord } from "./record.ts";
import type { VrrpRecord } from "./vrrp.ts";

/** Holds what an appliance says of its websites. */
export interface DiscoveryRecords {
  readonly list: OperationRecord<WebsiteList>;
  /** The records of the websites that are neither excluded nor beyond the limit, by id. */
  readonly details: ReadonlyMap<number, OperationRecord<WebsiteDetails>>;
  /** The ids of these records in the first valid list; `undefined` before that. */
  readonly first: ReadonlySet<number> | undefined;
}

/** Returns what is known under a configuration, without websites that the latest valid list lacks; `undefined` without discovery. */
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

/** The same at the monotonic instant `nowMs`. */
export function discoveryAt(records: DiscoveryRecords, nowMs: number): DiscoveryRecords {
  const { list, details } = records;
  if ([list, ...details.values()].every(({ expiresAtMs }) => nowMs < expiresAtMs)) return records;
  const now = Array.from(details, ([id, record]) => [id, recordAt(record, nowMs)] as const);
  return { ...records, list: recordAt(list, nowMs), details: new Map(now) };
}

/** The same after a poll of the VRRP list: while the appliance is out of reach, what it said before does not count. */
export function discoveryAfterVrrp(
  records: DiscoveryRecords,
  { failing, health }: VrrpRecord,
): DiscoveryRecords {
  const isDown = failing !== undefined && meaningOf(failing.reason).stopsOtherPolls === true;
  const downSinceMs = isDown ? health.failingSinceMs : undefined;
  const list = whileReachable(records.list, downSinceMs);
  const details = Array.from(
    records.details,
    ([id, record]) => [id, whileReachable(record, downSinceMs)] as const,
  );
  const isAsBefore =
    list === records.list && details.every(([id, record]) => record === records.details.get(id));
  return isAsBefore ? records : { ...records, list, details: new Map(details) };
}

/** The same after one more poll; that of a website which is gone changes nothing. */
export function afterDiscoveryPoll(
  records: DiscoveryRecords,
  observation: Observation & { readonly kind: "website_list" | "website_details" },
  config: ApplianceConfig,
  nowMs: number,
): DiscoveryRecords | undefined {
  if (observation.kind === "website_list") {
    const seen = observation.outcome.ok ? observation.outcome.value : undefined;
    return discoveryFor(
      { ...records, list: afterPoll(records.list, observation, nowMs, seen) },
      config,
      nowMs,
    );
  }
  const { websiteId, outcome } = observation;
  const before = records.details.get(websiteId);
  if (before === undefined) return records;
  const seen = outcome.ok ? kept(before.seen, outcome.value) : undefined;
  const now = afterPoll(before, observation, nowMs, seen);
  return { ...records, details: new Map(records.details).set(websiteId, now) };
}
