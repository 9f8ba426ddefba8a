import type { WebsiteDetails } from "../api/website-details.ts";
import type { WebsiteList } from "../api/website-list.ts";
import type { ApplianceConfig } from "../config/config.ts";
import { firstExpiryMs } from "../polling/freshness.ts";
import type { Observation } from "../polling/observation.ts";
import { kept, keptEqual, keptMap } from "../support/kept.ts";
import type { FleetChange } from "./changes.ts";
import {
  afterFailure,
  afterSuccess,
  freshRecord,
  recordAt,
  whileKnown,
  type OperationRecord,
  type OperationStep,
} from "./record.ts";
import { addressOf, isNotFound, type DetailsById, type KnownWebsite } from "./known-websites.ts";
import type { DiscoverySnapshot, FoundWebsiteSnapshot, Identity, PollHealth } from "./snapshot.ts";

/** What an appliance says of its websites. Immutable. */
export interface DiscoveryRecords {
  readonly list: OperationRecord<WebsiteList>;
  /** Of the websites that are neither excluded nor beyond the limit, by id. */
  readonly details: DetailsById;
}

export type DiscoveryObservation = Observation & { readonly kind: "website_list" | "website_details" };

export interface DiscoveryState extends DiscoverySnapshot {
  readonly records: DiscoveryRecords;
}

/** What is known under a configuration, which may be another one than `before`; `undefined` without discovery. */
export function discoveryFor(
  before: DiscoveryRecords | undefined,
  config: ApplianceConfig,
  nowMs: number,
): DiscoveryRecords | undefined {
  if (config.discovery === undefined) return undefined;
  if (before !== undefined)
    return { ...before, details: detailsFor(before.list.seen, before.details, config, nowMs) };
  return { list: freshRecord(expiryMs(config, nowMs)), details: new Map() };
}

/** When what was never polled is stalled. Discovery begins when the first poll of the VRRP list has ended. */
function expiryMs({ polling }: ApplianceConfig, nowMs: number): number {
  return firstExpiryMs(polling.discovery, nowMs + polling.vrrp.timeoutMs);
}

/** What is known after one more poll: websites that a valid list lacks are forgotten. `undefined` for one that is gone. */
export function afterDiscoveryPoll(
  { list, details }: DiscoveryRecords,
  observation: DiscoveryObservation,
  config: ApplianceConfig,
  nowMs: number,
): OperationStep<DiscoveryRecords> | undefined {
  if (observation.kind === "website_list") {
    const { outcome } = observation;
    const now = outcome.ok
      ? afterSuccess(list, observation, outcome.value)
      : afterFailure(list, observation, outcome.failure, nowMs);
    const state = { list: now, details: detailsFor(now.seen, details, config, nowMs) };
    return { state, changes: [], before: list, now };
  }
  const { websiteId, outcome } = observation;
  const before = details.get(websiteId);
  if (before === undefined) return undefined;
  const now = outcome.ok
    ? afterSuccess(before, observation, keptEqual(before.seen, outcome.value))
    : afterFailure(before, observation, outcome.failure, nowMs);
  const state = { list, details: new Map(details).set(websiteId, now) };
  return { state, changes: changesOf(before, now), before, now };
}

function changesOf(
  before: OperationRecord<WebsiteDetails>,
  now: OperationRecord<WebsiteDetails>,
): readonly FleetChange[] {
  if (isNotFound(now)) return isNotFound(before) ? [] : [{ kind: "website_gone" }];
  const isOther = before.seen !== undefined && before.seen !== now.seen;
  return isOther ? [{ kind: "website_changed", address: addressOf(before.seen) }] : [];
}

function detailsFor(
  list: WebsiteList | undefined,
  known: DetailsById,
  config: ApplianceConfig,
  nowMs: number,
): DetailsById {
  if (list === undefined) return known;
  const expiresAtMs = expiryMs(config, nowMs);
  const excluded = new Set(config.discovery?.exclude);
  const watched = list.ids.filter((id) => !excluded.has(id)).slice(0, config.discovery?.limit);
  return new Map(watched.map((id) => [id, known.get(id) ?? freshRecord(expiresAtMs)]));
}

/** The same at the monotonic instant `nowMs`. */
export function discoveryAt(records: DiscoveryRecords, nowMs: number): DiscoveryRecords {
  const details = Array.from(records.details, ([id, record]) => [id, recordAt(record, nowMs)] as const);
  return kept(records, {
    list: recordAt(records.list, nowMs),
    details: keptMap(records.details, new Map(details)),
  });
}

type Described = KnownWebsite & Pick<FoundWebsiteSnapshot, "address" | "details">;

/** What is true of an appliance's websites. */
export function discoverySection(
  identity: Identity,
  config: ApplianceConfig,
  records: DiscoveryRecords | undefined,
  websites: readonly KnownWebsite[],
): {
  readonly discovery: DiscoveryState | undefined;
  readonly found: readonly FoundWebsiteSnapshot[];
} {
  if (records === undefined) return { discovery: undefined, found: [] };
  const { list, details } = records;
  const known = whileKnown(list);
  const described = websites.flatMap((each) => (each.address ? [[each.address, each] as const] : []));
  const joint = jointHealth(Array.from(details.values(), ({ health }) => health));
  const isLeftOut = (id: number): boolean =>
    !details.has(id) &&
    config.discovery?.exclude.includes(id) !== true &&
    !config.websites.some((website) => website.id === id);
  return {
    found: websites.filter(
      (each): each is Described => whileKnown(details.get(each.websiteId)) !== undefined,
    ),
    discovery: {
      kind: "discovery",
      identity,
      records,
      list: list.health,
      details: joint,
      badIds: known?.invalid.length,
      beyondLimit: known?.ids.filter(isLeftOut).length ?? 0,
      known: new Map(described),
      // One of an unknown id or address may be any, and so may one whose details are not known now.
      isComplete:
        known?.invalid.length === 0 &&
        known.ids.length === described.length &&
        (joint?.state ?? "succeeded") === "succeeded",
      isPolled: [list, ...details.values()].every(({ health: { state } }) => state !== "never_polled"),
    },
  };
}

/**
 * How the latest polls of the details went together; `undefined` if there are none. A failure of one is a failure; one that was
 * not polled yet changes nothing.
 */
function jointHealth(all: readonly PollHealth[]): PollHealth | undefined {
  const [first] = all;
  if (first === undefined) return undefined;
  const failures = all.filter(({ state }) => state === "failed");
  // A website without details may be gone.
  const failed = failures.find(({ failure }) => failure?.status !== 404) ?? failures[0];
  const worst = failed ?? all.find(({ state }) => state === "succeeded") ?? first;
  const successes = all.flatMap(({ lastSuccessAtMs }) => lastSuccessAtMs ?? []);
  const isAbsent = all.every(({ failure }) => failure?.status === 404);
  return {
    ...worst,
    failure: isAbsent && worst.failure ? { ...worst.failure, reason: "unsupported" } : worst.failure,
    lastSuccessAtMs: successes.length > 0 ? Math.min(...successes) : undefined,
  };
}
