import { isIP } from "node:net";
import { isDeepStrictEqual } from "node:util";
import type { WebsiteDetails } from "../api/website-details.ts";
import type { WebsiteList } from "../api/website-list.ts";
import type { ApplianceConfig, WebsiteConfig } from "../config/config.ts";
import { firstExpiryMs } from "../polling/freshness.ts";
import type { Observation } from "../polling/observation.ts";
import { canonicalAddress } from "./address.ts";
import {
  afterFailure,
  afterSuccess,
  freshRecord,
  healthAt,
  isStalled,
  whileKnown,
  type OperationRecord,
} from "./record.ts";
import { createSectionMemo } from "./section-memo.ts";
import type { DiscoverySnapshot, FoundWebsiteSnapshot, Identity, PollHealth } from "./snapshot.ts";

/** What an appliance says of its websites. Immutable. */
export interface Discovery {
  readonly list: OperationRecord<WebsiteList>;
  /** Of the websites that are neither excluded nor beyond the limit, by id. */
  readonly details: ReadonlyMap<number, DetailsRecord>;
}

type DetailsRecord = OperationRecord<WebsiteDetails>;

/** A website that is tested: as configured, else as discovered. */
export interface TestedWebsite extends WebsiteConfig {
  /** Host and port: what it is known by at the other appliances of the cluster. @see WebsiteSnapshot */
  readonly address: string | undefined;
  /** @see listensOn */
  readonly bind: readonly string[];
  /** Where visitors reach it; none while that is not known. */
  readonly urls: readonly string[];
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
  const record: DetailsRecord = outcome.ok
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
  known: Discovery["details"],
  config: ApplianceConfig,
  nowMs: number,
): Discovery["details"] {
  if (list === undefined) return known;
  const expiresAtMs = expiryMs(config, nowMs);
  return new Map(watched(list, config).map((id) => [id, known.get(id) ?? freshRecord(expiresAtMs)]));
}

const onceTested = createSectionMemo<TestedWebsite>();

/**
 * The websites to test: those configured, then those discovered whose details are known, also from an earlier poll, unless
 * they are disabled. A configured one with the same id overrides name, protocols and expected status.
 */
export function testedWebsites(
  { websites, discovery: settings }: ApplianceConfig,
  discovery: Discovery | undefined,
): readonly TestedWebsite[] {
  const detailsOf = (id: number): WebsiteDetails | undefined => settings && discovery?.details.get(id)?.seen;
  const addresses = addressesOf(discovery?.details ?? new Map());
  const configured = websites.map((website) => {
    const details = detailsOf(website.id);
    const address = addresses.get(website.id);
    return onceTested(details ?? website, [website, address], () => testedWebsite(website, details, address));
  });
  const isConfigured = new Set(websites.map(({ id }) => id));
  const discovered = [...(discovery?.details ?? [])].flatMap(([id, { seen }]) => {
    if (seen === undefined || seen.isEnabled === false || isConfigured.has(id)) return [];
    const address = addresses.get(id);
    return onceTested(seen, [address], () => testedWebsite(discoveredWebsite(id), seen, address));
  });
  return [...configured, ...discovered];
}

function discoveredWebsite(id: number): WebsiteConfig {
  return { id, name: String(id), protocols: undefined, expectStatus: { ranges: [{ from: 200, to: 399 }] } };
}

function testedWebsite(
  website: WebsiteConfig,
  details: WebsiteDetails | undefined,
  address: string | undefined,
): TestedWebsite {
  if (details === undefined) return { ...website, address: undefined, bind: [], urls: [] };
  const { protocol } = details;
  return {
    ...website,
    name: nameOf(website, details),
    protocols: website.protocols ?? (protocol && (protocol === "both" ? ["http", "https"] : [protocol])),
    address,
    bind: listensOn(details),
    urls: urlsOf(details).filter(
      (url) => website.protocols?.some((own) => url.startsWith(`${own}:`)) ?? true,
    ),
  };
}

/** As reported, which is how the appliance writes its aliases, and in canonical text, as VIPs are. */
export function listensOn({ bind }: WebsiteDetails): readonly string[] {
  return [...new Set([...bind, ...bind.map(canonicalAddress)])];
}

/** A configured name, else the one that the appliance gives. */
function nameOf({ id, name }: WebsiteConfig, details: WebsiteDetails): string {
  return name === String(id) ? details.name || details.host || name : name;
}

/** Neither a wildcard nor a path. */
const HOST_NAME = /^[\p{L}\p{N}_.-]{1,253}$/u;

function urlsOf({ host, port, secondPort, protocol }: WebsiteDetails): readonly string[] {
  if (!HOST_NAME.test(host) && isIP(host) === 0) return [];
  const name = host.includes(":") ? `[${host}]` : host;
  const urls = {
    http: [`http://${name}:${port}/`],
    https: [`https://${name}:${port}/`],
    both: [`http://${name}:${secondPort}/`, `https://${name}:${port}/`],
  };
  return (protocol === undefined ? [] : urls[protocol]).filter((url) => URL.canParse(url));
}

/** What each website of an appliance is known by in its cluster. @see FoundWebsiteSnapshot.address */
function addressesOf(details: Discovery["details"]): ReadonlyMap<number, string> {
  const seen = [...details].flatMap(([id, record]) => (record.seen ? [{ id, details: record.seen }] : []));
  // One that is disabled at this member is not taken for one that another member serves.
  const inOrder = seen.toSorted((a, b) => Number(isDisabled(a.details)) - Number(isDisabled(b.details)));
  const counts = new Map<string, number>();
  const named = inOrder.map(({ id, details: { host, port } }) => {
    const address = addressOf({ host, port });
    const nth = (counts.get(address) ?? 0) + 1;
    counts.set(address, nth);
    return [id, address === "" || nth === 1 ? address : `${address} (${nth})`] as const;
  });
  return new Map(named);
}

function isDisabled({ isEnabled }: WebsiteDetails): boolean {
  return isEnabled === false;
}

/** Host and port; empty while they are not known. */
export function addressOf({ host, port }: Pick<WebsiteDetails, "host" | "port">): string {
  if (host === "" || port === undefined) return "";
  const name = host.toLowerCase();
  return `${name.includes(":") ? `[${name}]` : name}:${port}`;
}

const onceSection = createSectionMemo<DiscoverySection>();
const onceFound = createSectionMemo<FoundWebsiteSnapshot>();

interface DiscoverySection {
  readonly discovery: DiscoverySnapshot;
  readonly found: readonly FoundWebsiteSnapshot[];
}

/** What is true of an appliance's websites at the monotonic instant `nowMs`. */
export function discoverySection(
  identity: Identity,
  config: ApplianceConfig,
  discovery: Discovery,
  nowMs: number,
): DiscoverySection {
  const { list, details } = discovery;
  const stalled = [list, ...details.values()].filter((record) => isStalled(record, nowMs)).length;
  return onceSection(discovery, [identity, config, stalled], () => {
    const health = healthAt(list, nowMs);
    const known = whileKnown(health, list.seen);
    const byId = addressesOf(details);
    const found = foundWebsites(identity, config, discovery, byId, nowMs);
    const addresses = [...byId.values()].filter((address) => address !== "");
    const isLeftOut = (id: number): boolean =>
      !details.has(id) &&
      config.discovery?.exclude.includes(id) !== true &&
      !config.websites.some((website) => website.id === id);
    return {
      found,
      discovery: {
        kind: "discovery",
        identity,
        list: health,
        details: jointHealth(Array.from(details.values(), (record) => healthAt(record, nowMs))),
        badIds: known?.invalid.length,
        beyondLimit: known?.ids.filter(isLeftOut).length ?? 0,
        isListKnown: known !== undefined,
        addresses: new Set(addresses),
        // One of an unknown address may be any.
        isComplete: known?.ids.length === addresses.length,
      },
    };
  });
}

function foundWebsites(
  identity: Identity,
  { websites }: ApplianceConfig,
  { details }: Discovery,
  addresses: ReadonlyMap<number, string>,
  nowMs: number,
): readonly FoundWebsiteSnapshot[] {
  return [...details].flatMap(([websiteId, record]) => {
    const seen = whileKnown(healthAt(record, nowMs), record.seen);
    if (seen === undefined) return [];
    const configured = websites.find(({ id }) => id === websiteId) ?? discoveredWebsite(websiteId);
    const website = nameOf(configured, seen);
    const address = addresses.get(websiteId) ?? "";
    return onceFound(seen, [identity, website, address], () => {
      return { kind: "website_details", identity, websiteId, website, address, details: seen };
    });
  });
}

/** How the latest polls of the details went together; `undefined` if there are none. A failure of one is a failure. */
function jointHealth(all: readonly PollHealth[]): PollHealth | undefined {
  const [first] = all;
  if (first === undefined) return undefined;
  const failed = all.find(({ state }) => state === "failed");
  const worst = failed ?? all.find(({ state }) => state === "never_polled") ?? first;
  const successes = all.flatMap(({ lastSuccessAtMs }) => lastSuccessAtMs ?? []);
  const isAbsent = all.every(({ failure }) => failure?.status === 404);
  return {
    ...worst,
    failure: isAbsent && worst.failure ? { ...worst.failure, reason: "unsupported" } : worst.failure,
    lastSuccessAtMs: successes.length === all.length ? Math.min(...successes) : undefined,
  };
}
