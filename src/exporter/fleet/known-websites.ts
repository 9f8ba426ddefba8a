import { isIP } from "node:net";
import type { WebsiteDetails } from "../api/website-details.ts";
import { PROTOCOLS } from "../api/website-test.ts";
import { DEFAULT_STATUSES, type ApplianceConfig, type WebsiteConfig } from "../config/config.ts";
import { canonicalHost, urlHost } from "../../support/address.ts";
import { groupBy } from "../../support/group-by.ts";
import { kept, memo, once } from "../../support/kept.ts";
import { isGone, type DiscoveryFacts } from "./operation-facts.ts";
import type { Identity, KnownWebsite } from "./snapshot.ts";

/** The most servers that an appliance shows, over all its websites. */
const MAX_BACKENDS = 2000;

/**
 * Returns the configured websites, then the discovered ones whose details are known, or all if the appliance has no details; none that is
 * gone. A configured website with the same id overrides name, protocols and expected status. A website that is as it was in `earlier` is
 * the same object.
 */
export function knownWebsites(
  identity: Identity,
  config: ApplianceConfig,
  discoveryFacts: DiscoveryFacts | undefined,
  earlier: readonly KnownWebsite[],
): readonly KnownWebsite[] {
  const details: DiscoveryFacts["details"] = discoveryFacts?.details ?? new Map();
  const before = new Map(earlier.map((website) => [website.websiteId, website]));
  const addresses = addressesOf(details);
  const configured = new Map(config.websites.map((website) => [website.id, website]));
  const isWithoutDetails = details.size > 0 && [...details.values()].every(isGone);
  // A website that is still listed is not deleted where its details are not found: the appliance has no details any more. If it has no list
  // any more either, none is known to be deleted.
  const { failing, health: listHealth } = discoveryFacts?.list ?? {};
  const listedAtMs = failing?.reason === "unsupported" ? Infinity : (listHealth?.lastSuccessAtMs ?? 0);
  let room = MAX_BACKENDS;
  return [...new Set([...configured.keys(), ...details.keys()])].flatMap((id) => {
    const [own, facts, address] = [configured.get(id), details.get(id), addresses.get(id)];
    const { seen, health } = facts ?? {};
    const isDeleted = isGone(facts) && listedAtMs <= (health?.failingSinceMs ?? 0);
    if (own === undefined && (seen === undefined ? !isWithoutDetails : isDeleted)) return [];
    const shown = Math.min(room, seen?.backends?.shown.length ?? 0);
    room -= shown;
    const inputs = { identity, websiteId: id, own, details: seen, shown, address };
    return [seen === undefined ? knownWebsite(inputs, before.get(id)) : describedWebsite(seen, inputs)];
  });
}

/** This is a memo, since details of one website change while those of hundreds of others do not. */
const describedWebsite = memo(knownWebsite);

/** Returns details that show at most `most` servers. */
function showing(most: number, details: WebsiteDetails | undefined): WebsiteDetails | undefined {
  const { backends } = details ?? {};
  if (details === undefined || backends === undefined || backends.shown.length <= most) return details;
  const leftOut = backends.leftOut + backends.shown.length - most;
  return { ...details, backends: { ...backends, shown: backends.shown.slice(0, most), leftOut } };
}

interface Described extends Pick<KnownWebsite, "identity" | "websiteId" | "details" | "address"> {
  readonly own: WebsiteConfig | undefined;
  /** The number of servers that are shown. */
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
    // A configured name comes before the appliance's name.
    website: name === id ? details?.name || details?.host || name : name,
    protocols: protocols ?? offered,
    expectStatus,
    details,
    // A discovered website is never joined by its id: another member may give that id to another website.
    address: own === undefined ? (address ?? "") : address,
    bind: listensOn(details),
    urls: urlsOf(details).filter((url) => protocols?.some((one) => url.startsWith(`${one}:`)) ?? true),
    isTested: own !== undefined || details?.isEnabled !== false,
  });
}

const ALL_ADDRESSES: ReadonlySet<string> = new Set(["*", "0.0.0.0", "::"]);

/** @see KnownWebsite.bind */
function listensOn({ bind = [] }: Partial<WebsiteDetails> = {}): readonly string[] {
  return bind.some((address) => ALL_ADDRESSES.has(address)) ? [] : bind;
}

/** This matches a name that is neither a wildcard nor a path. */
const HOST_NAME = /^[\p{L}\p{N}_.-]{1,253}$/u;

function urlsOf({ host = "", port, secondPort, protocol }: Partial<WebsiteDetails> = {}): readonly string[] {
  const bare = canonicalHost(host);
  if (!HOST_NAME.test(bare) && isIP(bare) === 0) return [];
  const name = urlHost(bare);
  const urls = {
    http: [`http://${name}:${port}/`],
    https: [`https://${name}:${port}/`],
    both: [`http://${name}:${secondPort}/`, `https://${name}:${port}/`],
  };
  return (protocol === undefined ? [] : urls[protocol]).filter((url) => URL.canParse(url));
}

interface WebsiteOrder {
  readonly id: number;
  readonly order: string;
}

/**
 * Compares two websites in an order that does not depend on ids, as far as possible, since another member may have other ids. A website
 * that is disabled at this member is not taken for one that another member serves.
 */
function inOrder(one: WebsiteOrder, other: WebsiteOrder): number {
  if (one.order === other.order) return one.id - other.id;
  return one.order < other.order ? -1 : 1;
}

const placeOf = once((seen: WebsiteDetails) => ({
  address: addressOf(seen),
  order: JSON.stringify([seen.isEnabled === false, seen.name, listensOn(seen)]),
}));

/** Returns the address by which each website of an appliance is known in its cluster. @see OfWebsite.address */
function addressesOf(details: DiscoveryFacts["details"]): ReadonlyMap<number, string> {
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

/** Returns host and port, equal for all spellings of the host; an empty text while they are not known. */
export function addressOf({ host, port }: Pick<WebsiteDetails, "host" | "port">): string {
  if (host === "" || port === undefined) return "";
  return `${urlHost(canonicalHost(host))}:${port}`;
}
