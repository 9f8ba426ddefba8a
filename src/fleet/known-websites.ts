import { isIP } from "node:net";
import type { WebsiteDetails } from "../api/website-details.ts";
import type { ApplianceConfig, WebsiteConfig } from "../config/config.ts";
import { DEFAULT_STATUSES } from "../config/status-set.ts";
import { canonicalAddress, urlHost } from "../support/address.ts";
import { keptEqual } from "../support/kept.ts";
import type { OperationRecord } from "./record.ts";
import type { FoundWebsiteSnapshot, Identity } from "./snapshot.ts";

/** What is known of the details of websites, by id. */
export type DetailsById = ReadonlyMap<number, OperationRecord<WebsiteDetails>>;

/** A website of an appliance: as configured, else as discovered. */
export interface KnownWebsite
  extends Omit<FoundWebsiteSnapshot, "address" | "details">, Omit<WebsiteConfig, "id" | "name"> {
  /** Also from an earlier poll; `undefined` before the first, and without discovery. */
  readonly details: WebsiteDetails | undefined;
  /** What it is known by at the other appliances of the cluster. @see WebsiteSnapshot */
  readonly address: string | undefined;
  /** @see listensOn */
  readonly bind: readonly string[];
  /** Where visitors reach it; none while that is not known. */
  readonly urls: readonly string[];
  /** A website that is disabled is tested only if it is configured. */
  readonly isTested: boolean;
}

/**
 * The websites that are configured, then those discovered whose details are known, or all if the appliance has no details. A
 * configured one with the same id overrides name, protocols and expected status. One that is as in `before` is the same object.
 */
export function knownWebsites(
  identity: Identity,
  { websites }: ApplianceConfig,
  details: DetailsById,
  before: readonly KnownWebsite[],
): readonly KnownWebsite[] {
  const known = new Map(before.map((website) => [website.websiteId, website]));
  const addresses = addressesOf(details);
  const configured = new Map(websites.map((website) => [website.id, website]));
  const isWithoutDetails = details.size > 0 && [...details.values()].every(isNotFound);
  return [...new Set([...configured.keys(), ...details.keys()])].flatMap((id) => {
    const [own, seen, old] = [configured.get(id), details.get(id)?.seen, known.get(id)];
    if (own === undefined && seen === undefined && !isWithoutDetails) return [];
    const website = knownWebsite(id, identity, own, seen, addresses.get(id));
    return [keptEqual(old, website)];
  });
}

/** Firmware that has no details answers so for every website. */
export function isNotFound({ failing }: OperationRecord<unknown>): boolean {
  return failing?.status === 404;
}

function knownWebsite(
  websiteId: number,
  identity: Identity,
  own: WebsiteConfig | undefined,
  details: WebsiteDetails | undefined,
  address: string | undefined,
): KnownWebsite {
  const id = String(websiteId);
  const { name = id, protocols, expectStatus = DEFAULT_STATUSES } = own ?? {};
  const { protocol } = details ?? {};
  const offered = protocol && (protocol === "both" ? (["http", "https"] as const) : [protocol]);
  return {
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
  };
}

const ALL_ADDRESSES: ReadonlySet<string> = new Set(["*", "0.0.0.0", "::"]);

/** The addresses on which an appliance listens for it, in canonical text; empty for all, and while they are not known. */
export function listensOn({ bind }: WebsiteDetails): readonly string[] {
  const addresses = bind.map(canonicalAddress);
  return addresses.some((address) => ALL_ADDRESSES.has(address)) ? [] : addresses;
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

/** What each website of an appliance is known by in its cluster. @see FoundWebsiteSnapshot.address */
function addressesOf(details: DetailsById): ReadonlyMap<number, string> {
  // In an order that does not depend on ids: another member may have others. One that is disabled at this member is not taken
  // for one that another member serves.
  const inOrder = [...details]
    .flatMap(([id, { seen }]) => {
      if (seen === undefined) return [];
      const order = JSON.stringify([seen.isEnabled === false, seen.name, listensOn(seen), id]);
      return [{ id, address: addressOf(seen), order }];
    })
    .toSorted((a, b) => (a.order < b.order ? -1 : 1));
  const counts = new Map<string, number>();
  const named = inOrder.map(({ id, address }) => {
    const nth = (counts.get(address) ?? 0) + 1;
    counts.set(address, nth);
    return [id, address === "" || nth === 1 ? address : `${address} (${nth})`] as const;
  });
  return new Map(named);
}

/** Host and port; empty while they are not known. */
export function addressOf({ host, port }: Pick<WebsiteDetails, "host" | "port">): string {
  if (host === "" || port === undefined) return "";
  const name = canonicalAddress(host.toLowerCase().replace(/\.$/, ""));
  return `${urlHost(name)}:${port}`;
}
