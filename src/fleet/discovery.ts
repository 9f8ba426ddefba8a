import { isDeepStrictEqual } from "node:util";
import type { WebsiteDetails } from "../api/website-details.ts";
import type { WebsiteList } from "../api/website-list.ts";
import type { ApplianceConfig } from "../config/config.ts";
import { firstExpiryMs } from "../polling/freshness.ts";
import type { Observation } from "../polling/observation.ts";
import {
  afterFailure,
  afterSuccess,
  freshRecord,
  healthAt,
  isStalled,
  whileKnown,
  type OperationRecord,
} from "./record.ts";
import { createMemo } from "../support/once.ts";
import type { DetailsById, KnownWebsite } from "./known-websites.ts";
import type { DiscoverySnapshot, FoundWebsiteSnapshot, Identity, PollHealth } from "./snapshot.ts";

/** What an appliance says of its websites. Immutable. */
export interface Discovery {
  readonly list: OperationRecord<WebsiteList>;
  /** Of the websites that are neither excluded nor beyond the limit, by id. */
  readonly details: DetailsById;
}

/** What is known under a configuration, which may be another one than `before`; `undefined` without discovery. */
export function discoveryFor(
  before: Discovery | undefined,
  config: ApplianceConfig,
  nowMs: number,
): Discovery | undefined {
  if (config.discovery === undefined) return undefined;
  if (before !== undefined)
    return { ...before, details: detailsFor(before.list.seen, before.details, config, nowMs) };
  return { list: freshRecord(expiryMs(config, nowMs)), details: new Map() };
}

/** When what was never polled is stalled. Discovery begins when the first poll of the VRRP list has ended. */
function expiryMs({ polling }: ApplianceConfig, nowMs: number): number {
  return firstExpiryMs(polling.discovery, nowMs + polling.vrrp.timeoutMs);
}

/** What is known after one more poll of the list: websites that a valid list lacks are forgotten. */
export function afterListPoll(
  discovery: Discovery,
  observation: Observation & { readonly kind: "website_list" },
  config: ApplianceConfig,
  nowMs: number,
): Discovery {
  const { list, details } = discovery;
  const { outcome } = observation;
  if (!outcome.ok) return { list: afterFailure(list, observation, outcome.failure, nowMs), details };
  const known = afterSuccess(observation, outcome.value);
  if (list.seen === outcome.value) return { list: known, details };
  return { list: known, details: detailsFor(outcome.value, details, config, nowMs) };
}

/** What is known after one more poll of a website's details. */
export function afterDetailsPoll(
  discovery: Discovery,
  observation: Observation & { readonly kind: "website_details" },
  nowMs: number,
): Discovery {
  const { websiteId, outcome } = observation;
  const before = discovery.details.get(websiteId);
  if (before === undefined) return discovery;
  const record: OperationRecord<WebsiteDetails> = outcome.ok
    ? afterSuccess(observation, sameOr(before.seen, outcome.value))
    : afterFailure(before, observation, outcome.failure, nowMs);
  return { ...discovery, details: new Map(discovery.details).set(websiteId, record) };
}

/** The details of before if nothing in them has changed, so that what is made of them stays too. */
function sameOr(before: WebsiteDetails | undefined, now: WebsiteDetails): WebsiteDetails {
  return before !== undefined && isDeepStrictEqual(before, now) ? before : now;
}

/** Whether an id now belongs to another website. */
export function isTakenOver(before: WebsiteDetails | undefined, now: WebsiteDetails | undefined): boolean {
  return before !== undefined && now !== undefined && before.name !== now.name && before.host !== now.host;
}

function watched({ ids }: WebsiteList, { discovery }: ApplianceConfig): readonly number[] {
  const excluded = new Set(discovery?.exclude);
  return ids.filter((id) => !excluded.has(id)).slice(0, discovery?.limit);
}

function detailsFor(
  list: WebsiteList | undefined,
  known: DetailsById,
  config: ApplianceConfig,
  nowMs: number,
): DetailsById {
  if (list === undefined) return known;
  const expiresAtMs = expiryMs(config, nowMs);
  return new Map(watched(list, config).map((id) => [id, known.get(id) ?? freshRecord(expiresAtMs)]));
}

const onceSection = createMemo<DiscoverySection>();
const onceFound = createMemo<FoundWebsiteSnapshot>();

interface DiscoverySection {
  readonly discovery: DiscoverySnapshot;
  readonly found: readonly FoundWebsiteSnapshot[];
}

/** What is true of an appliance's websites at the monotonic instant `nowMs`. */
export function discoverySection(
  identity: Identity,
  config: ApplianceConfig,
  discovery: Discovery,
  websites: readonly KnownWebsite[],
  nowMs: number,
): DiscoverySection {
  const { list, details } = discovery;
  const stalled = [list, ...details.values()].filter((record) => isStalled(record, nowMs)).length;
  return onceSection(identity, [discovery, config.discovery, config.websites, stalled], () => {
    const health = healthAt(list, nowMs);
    const known = whileKnown(health, list.seen);
    const described = websites.flatMap(({ id: websiteId, name: website, address }) =>
      address ? [[address, { websiteId, website }] as const] : [],
    );
    const joint = jointHealth(Array.from(details.values(), (record) => healthAt(record, nowMs)));
    const isLeftOut = (id: number): boolean =>
      !details.has(id) &&
      config.discovery?.exclude.includes(id) !== true &&
      !config.websites.some((website) => website.id === id);
    return {
      found: foundWebsites(identity, discovery, websites, nowMs),
      discovery: {
        kind: "discovery",
        identity,
        list: health,
        details: joint,
        badIds: known?.invalid.length,
        beyondLimit: known?.ids.filter(isLeftOut).length ?? 0,
        known: new Map(described),
        // One of an unknown address may be any, and so may one whose details are not known now.
        isComplete: known?.ids.length === described.length && (joint?.state ?? "succeeded") === "succeeded",
        isPolled: [list, ...details.values()].every(({ health: { state } }) => state !== "never_polled"),
      },
    };
  });
}

function foundWebsites(
  identity: Identity,
  { details: records }: Discovery,
  websites: readonly KnownWebsite[],
  nowMs: number,
): readonly FoundWebsiteSnapshot[] {
  const byId = new Map(websites.map((website) => [website.id, website]));
  return [...records].flatMap(([websiteId, record]) => {
    const { name: website = "", address = "", details } = byId.get(websiteId) ?? {};
    if (details === undefined) return [];
    if (whileKnown(healthAt(record, nowMs), record.seen) === undefined) return [];
    return onceFound(details, [identity, website, address], () => {
      return { kind: "website_details", identity, websiteId, website, address, details };
    });
  });
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
