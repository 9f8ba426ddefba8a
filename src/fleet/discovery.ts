import { isIP } from "node:net";
import type { WebsiteDetails } from "../api/website-details.ts";
import { PROTOCOLS } from "../api/website-test.ts";
import type { WebsiteList } from "../api/website-list.ts";
import { meaningOf } from "../client/failure.ts";
import { DEFAULT_STATUSES, type ApplianceConfig, type WebsiteConfig } from "../config/config.ts";
import type { Observation } from "../polling/observation.ts";
import { firstExpiryMs } from "../polling/pace.ts";
import { canonicalAddress, urlHost } from "../support/address.ts";
import { groupBy } from "../support/group-by.ts";
import { kept, memo, once } from "../support/kept.ts";
import type { Step } from "./changes.ts";
import {
  afterPoll,
  freshRecord,
  isGone,
  recordAt,
  whileKnown,
  whileReachable,
  type OperationRecord,
} from "./record.ts";
import type { VrrpState } from "./vrrp.ts";
import type {
  ApplianceSnapshot,
  FoundWebsiteSnapshot,
  KnownWebsiteSnapshot,
  PollHealth,
} from "./snapshot.ts";

/** What is known of an appliance's websites under a configuration. Immutable. */
export interface WebsiteFacts extends Pick<ApplianceSnapshot, "identity"> {
  readonly config: ApplianceConfig;
  /** `undefined` without discovery. */
  readonly records: DiscoveryRecords | undefined;
  /** Those configured first. */
  readonly known: readonly KnownWebsite[];
}

/** What an appliance says of its websites. */
export interface DiscoveryRecords {
  readonly list: OperationRecord<WebsiteList>;
  /** Of the websites that are neither excluded nor beyond the limit, by id. */
  readonly details: ReadonlyMap<number, OperationRecord<WebsiteDetails>>;
}

/** A website of an appliance, and how it is tested. */
export interface KnownWebsite extends KnownWebsiteSnapshot, Omit<WebsiteConfig, "id" | "name"> {}

/** Servers that are shown of all websites of an appliance. */
const MAX_BACKENDS = 2000;

/** What is known under a configuration, without websites that the latest valid list lacks; `undefined` without discovery. */
export function discoveryFor(
  before: DiscoveryRecords | undefined,
  { discovery, polling }: ApplianceConfig,
  nowMs: number,
): DiscoveryRecords | undefined {
  if (discovery === undefined) return undefined;
  // Discovery begins when the first poll of the VRRP list has ended.
  const fresh = freshRecord(firstExpiryMs(polling.discovery, nowMs + polling.vrrp.timeoutMs));
  const { list, details }: DiscoveryRecords = before ?? { list: fresh, details: new Map() };
  if (list.seen === undefined) return { list, details };
  const excluded = new Set(discovery.exclude);
  const watched = list.seen.ids.filter((id) => !excluded.has(id)).slice(0, discovery.limit);
  return { list, details: new Map(watched.map((id) => [id, details.get(id) ?? fresh])) };
}

/** The same at the monotonic instant `nowMs`. */
export function discoveryAt(records: DiscoveryRecords, nowMs: number): DiscoveryRecords {
  const { list, details } = records;
  if ([list, ...details.values()].every(({ expiresAtMs }) => nowMs < expiresAtMs)) return records;
  const now = Array.from(details, ([id, record]) => [id, recordAt(record, nowMs)] as const);
  return { list: recordAt(list, nowMs), details: new Map(now) };
}

/** The same after a poll of the VRRP list: while the appliance is out of reach, what it said before does not count. */
export function discoveryAfterVrrp(
  records: DiscoveryRecords,
  { failing, health }: VrrpState,
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
  return isAsBefore ? records : { list, details: new Map(details) };
}

/** What is known after one more poll; that of a website which is gone changes nothing. */
export function afterDiscoveryPoll<Facts extends WebsiteFacts>(
  facts: Facts,
  observation: Observation & { readonly kind: "website_list" | "website_details" },
  nowMs: number,
): Step<Facts> {
  const { config, records } = facts;
  if (records === undefined) return { state: facts, changes: [] };
  if (observation.kind === "website_list") {
    const seen = observation.outcome.ok ? observation.outcome.value : undefined;
    const list = afterPoll(records.list, observation, nowMs, seen);
    const state = { ...facts, records: discoveryFor({ ...records, list }, config, nowMs) };
    return { state: { ...state, known: knownWebsites(state) }, changes: [] };
  }
  const { websiteId, outcome } = observation;
  const before = records.details.get(websiteId);
  if (before === undefined) return { state: facts, changes: [] };
  const seen = outcome.ok ? kept(before.seen, outcome.value) : undefined;
  const now = afterPoll(before, observation, nowMs, seen);
  const details = new Map(records.details).set(websiteId, now);
  const found = { ...facts, records: { ...records, details } };
  // Most polls find nothing new.
  const isNew = before.seen !== now.seen || isGone(before) !== isGone(now);
  const state = { ...found, known: isNew ? knownWebsites(found) : facts.known };
  if (before.seen === undefined || before.seen === now.seen) return { state, changes: [] };
  return { state, changes: [{ kind: "website_changed", address: addressOf(before.seen) }] };
}

/**
 * The websites that are configured, then those discovered whose details are known, or all if the appliance has no details;
 * none that is gone. A configured one with the same id overrides name, protocols and expected status. One that is as in `known`
 * is the same object.
 */
export function knownWebsites({ identity, config, records, known }: WebsiteFacts): readonly KnownWebsite[] {
  const details: DiscoveryRecords["details"] = records?.details ?? new Map();
  const before = new Map(known.map((website) => [website.websiteId, website]));
  const addresses = addressesOf(details);
  const configured = new Map(config.websites.map((website) => [website.id, website]));
  const isWithoutDetails = details.size > 0 && [...details.values()].every(isGone);
  // What is listed since its details are not found is not deleted: the appliance has no details any more.
  const listedAtMs = records?.list.health.lastSuccessAtMs ?? 0;
  let room = MAX_BACKENDS;
  return [...new Set([...configured.keys(), ...details.keys()])].flatMap((id) => {
    const [own, record, address] = [configured.get(id), details.get(id), addresses.get(id)];
    const { seen, health } = record ?? {};
    const isDeleted = isGone(record) && listedAtMs <= (health?.failingSinceMs ?? 0);
    if (own === undefined && (seen === undefined ? !isWithoutDetails : isDeleted)) return [];
    const shown = Math.min(room, seen?.backends?.shown.length ?? 0);
    room -= shown;
    const inputs = { identity, websiteId: id, own, details: seen, shown, address };
    return [seen === undefined ? knownWebsite(inputs, before.get(id)) : describedWebsite(seen, inputs)];
  });
}

/** Details of one website change; those of hundreds of others do not. */
const describedWebsite = memo(knownWebsite);

/** Details that show at most so many servers. */
function showing(most: number, details: WebsiteDetails | undefined): WebsiteDetails | undefined {
  const { backends } = details ?? {};
  if (details === undefined || backends === undefined || backends.shown.length <= most) return details;
  const leftOut = backends.leftOut + backends.shown.length - most;
  return { ...details, backends: { ...backends, shown: backends.shown.slice(0, most), leftOut } };
}

interface Described extends Pick<KnownWebsite, "identity" | "websiteId" | "details" | "address"> {
  readonly own: WebsiteConfig | undefined;
  /** How many servers are shown. */
  readonly shown: number;
}

function knownWebsite(
  { identity, websiteId, own, details: seen, shown, address }: Described,
  before: KnownWebsite | undefined,
): KnownWebsite {
  const details = showing(shown, seen);
  const id = String(websiteId);
  const { name = id, protocols, expectStatus = DEFAULT_STATUSES } = own ?? {};
  const { protocol } = details ?? {};
  const offered = protocol && PROTOCOLS[protocol];
  return kept(before, {
    kind: "website_details",
    identity,
    websiteId,
    // A configured name, else the one that the appliance gives.
    website: name === id ? details?.name || details?.host || name : name,
    protocols: protocols ?? offered,
    expectStatus,
    details,
    // One that is discovered is never joined by its id: another member may give that id to another website.
    address: own === undefined ? (address ?? "") : address,
    bind: details === undefined ? [] : listensOn(details),
    urls: urlsOf(details).filter((url) => protocols?.some((one) => url.startsWith(`${one}:`)) ?? true),
    isTested: own !== undefined || details?.isEnabled !== false,
  });
}

const ALL_ADDRESSES: ReadonlySet<string> = new Set(["*", "0.0.0.0", "::"]);

/** @see KnownWebsiteSnapshot.bind */
function listensOn({ bind }: WebsiteDetails): readonly string[] {
  return bind.some((address) => ALL_ADDRESSES.has(address)) ? [] : bind;
}

/** Neither a wildcard nor a path. */
const HOST_NAME = /^[\p{L}\p{N}_.-]{1,253}$/u;

function urlsOf({ host = "", port, secondPort, protocol }: Partial<WebsiteDetails> = {}): readonly string[] {
  if (!HOST_NAME.test(host) && isIP(host) === 0) return [];
  const name = urlHost(host);
  const urls = {
    http: [`http://${name}:${port}/`],
    https: [`https://${name}:${port}/`],
    both: [`http://${name}:${secondPort}/`, `https://${name}:${port}/`],
  };
  return (protocol === undefined ? [] : urls[protocol]).filter((url) => URL.canParse(url));
}

interface Place {
  readonly id: number;
  readonly order: string;
}

/**
 * In an order that does not depend on ids, as far as possible: another member may have others. One that is disabled at this member
 * is not taken for one that another member serves.
 */
function inOrder(one: Place, other: Place): number {
  if (one.order === other.order) return one.id - other.id;
  return one.order < other.order ? -1 : 1;
}

const placeOf = once((seen: WebsiteDetails) => ({
  address: addressOf(seen),
  order: JSON.stringify([seen.isEnabled === false, seen.name, listensOn(seen)]),
}));

/** What each website of an appliance is known by in its cluster. @see OfWebsite.address */
function addressesOf(details: DiscoveryRecords["details"]): ReadonlyMap<number, string> {
  const described = [...details].flatMap(([id, { seen }]) =>
    seen === undefined ? [] : [{ id, ...placeOf(seen) }],
  );
  const named = Array.from(
    groupBy(described, ({ address }) => address),
    ([address, all]) =>
      all
        .toSorted(inOrder)
        .map(
          ({ id }, nth) => [id, address === "" || nth === 0 ? address : `${address} (${nth + 1})`] as const,
        ),
  );
  return new Map(named.flat());
}

/** Host and port; empty while they are not known. */
export function addressOf({ host, port }: Pick<WebsiteDetails, "host" | "port">): string {
  if (host === "" || port === undefined) return "";
  const name = canonicalAddress(host.toLowerCase().replace(/\.$/, ""));
  return `${urlHost(name)}:${port}`;
}

/** By address. */
const describedIn = once(
  (websites: WebsiteFacts["known"]) =>
    new Map(websites.flatMap((each) => (each.address ? [[each.address, each] as const] : []))),
);

/** `before`: the same list while it has the same websites. */
export function discovered(
  facts: WebsiteFacts,
  before: ApplianceSnapshot["found"] = [],
): Pick<ApplianceSnapshot, "discovery" | "found"> {
  const { identity, config, records, known: websites } = facts;
  if (records === undefined) return { discovery: undefined, found: [] };
  const { list, details } = records;
  const listed = whileKnown(list);
  const described = describedIn(websites);
  const joint = jointHealth(Array.from(details.values(), ({ health }) => health));
  const isLeftOut = (id: number): boolean =>
    !details.has(id) &&
    config.discovery?.exclude.includes(id) !== true &&
    !config.websites.some((website) => website.id === id);
  const isFound = (website: KnownWebsite): website is KnownWebsite & FoundWebsiteSnapshot =>
    whileKnown(details.get(website.websiteId)) !== undefined;
  const found = websites.filter(isFound);
  return {
    found: kept(before, found),
    discovery: {
      kind: "discovery",
      identity,
      list: list.health,
      details: joint,
      beyondLimit: listed?.ids.filter(isLeftOut).length ?? 0,
      backendsLeftOut: found.reduce((sum, { details: { backends } }) => sum + (backends?.leftOut ?? 0), 0),
      known: described,
      // One of an unknown id or address may be any, and so may one whose details are not known now.
      isComplete:
        listed?.invalid.length === 0 &&
        listed.ids.length === described.size &&
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
  const failures = all.filter(({ state }) => state === "failed");
  // A website without details may be gone.
  const failed = failures.find(({ failure }) => failure?.isGone !== true) ?? failures[0];
  const worst = failed ?? all.find(({ state }) => state === "succeeded") ?? all[0];
  if (worst === undefined) return undefined;
  const successes = all.flatMap(({ lastSuccessAtMs }) => lastSuccessAtMs ?? []);
  const isAbsent = all.every(({ failure }) => failure?.isGone === true);
  return {
    ...worst,
    failure: isAbsent && worst.failure ? { ...worst.failure, reason: "unsupported" } : worst.failure,
    lastSuccessAtMs: successes.length > 0 ? Math.min(...successes) : undefined,
  };
}
