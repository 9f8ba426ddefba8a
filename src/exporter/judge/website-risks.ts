import type { WebsiteDetails, WebsiteMode } from "../api/website-details.ts";
import { PROTOCOLS, type Protocol } from "../api/website-test.ts";
import type { InventorySnapshot, KnownWebsite, ProtocolResult } from "../fleet/snapshot.ts";
import { canonicalHost } from "../../support/address.ts";
import { groupBy } from "../../support/group-by.ts";
import { memo, once } from "../../support/kept.ts";
import { usableBackends } from "./judge-website.ts";
import { RISKS, type RiskKind } from "./states.ts";
import type { ClusterVerdict, WebsiteVerdict } from "./verdict.ts";

/** A website at one appliance. */
export interface WebsiteAtMember {
  readonly known: KnownWebsite;
  /** The details; `undefined` while they are not known now. */
  readonly details: WebsiteDetails | undefined;
  /** The results of the appliance's tests, by protocol; empty if they are not known. */
  readonly results: readonly ProtocolResult[];
}

/**
 * The reason why a website is absent. It is `explained` if the website is excluded there, or if another risk says that the websites there
 * are not known.
 */
type Absence = "lacking" | "explained" | "unknown";

/** A risk with its protocol; `""` stands for all protocols. */
export type WebsiteRisk = readonly [risk: RiskKind, protocol: Protocol | ""];

const UNKNOWN: readonly WebsiteRisk[] = [["website_unknown", ""]];

/** Returns the website at an appliance; `undefined` if it is not known there. */
export function websiteAtMember(
  { at, found, results }: WebsiteVerdict,
  appliance: string,
): WebsiteAtMember | undefined {
  const nth = at.findIndex(({ known: { identity } }) => identity.appliance === appliance);
  const place = at[nth];
  if (place === undefined) return undefined;
  const details = found.find(({ identity }) => identity.appliance === appliance)?.details;
  return { known: place.known, details, results: results[nth] ?? [] };
}

/** Whether an appliance serves the website to visitors, as far as that is known: the website is neither disabled nor down there. */
export function isServed({ known, results }: WebsiteAtMember): boolean {
  const isDown = results.length > 0 && results.every(({ result }) => result === "down");
  return known.details?.isEnabled !== false && !isDown;
}

/** The completeness of an inventory, which says why a website is absent from it. */
export interface Listing extends Pick<InventorySnapshot, "identity" | "excluded" | "beyondLimit"> {
  /** Whether the appliance's websites are discovered. */
  readonly isDiscovered: boolean;
  /** Whether all websites of the appliance are known, except for those that the configuration leaves out. */
  readonly isWhole: boolean;
}

const sameListing = memo((listing: Listing) => listing);

/** Returns the same object while the inventory is as complete as before, whatever its websites are. */
export function listingOf(inventory: InventorySnapshot): Listing {
  const { identity, excluded, beyondLimit, byAddress, isListed, areDetailsKnown } = inventory;
  const isWhole = isListed && areDetailsKnown;
  const isDiscovered = byAddress !== undefined;
  return sameListing(identity, { identity, excluded, beyondLimit, isDiscovered, isWhole });
}

/** Returns why a website is not known at an appliance; `here` is the website at the appliance that would stop. */
export function absenceAt(
  { identity, excluded, isDiscovered, isWhole }: Listing,
  { lacking }: WebsiteVerdict,
  here: WebsiteAtMember | undefined,
): Absence {
  if (lacking.includes(identity.appliance)) return "lacking";
  if (!isDiscovered) return "unknown";
  const isExcluded = here !== undefined && excluded.includes(here.known.websiteId);
  return isExcluded || !isWhole ? "explained" : "unknown";
}

/**
 * Returns the losses of a website's visitors if another appliance served it, and the unknown ones; `wanted` are the addresses by which they
 * reach it, `others` the appliance's other websites of that host, one of which may serve a protocol. Each known difference that costs them nothing is one `website_differs`.
 */
export function websiteRisks(
  here: WebsiteAtMember,
  there: WebsiteAtMember | Absence,
  wanted: readonly string[],
  others: readonly WebsiteAtMember[] = [],
): readonly WebsiteRisk[] {
  if (there === "explained") return [];
  if (there === "unknown") return UNKNOWN;
  const serving = others.filter((each) => each.details?.isEnabled !== false && listensOn(each, wanted));
  if (there === "lacking") return distinct(absentRisks("website_missing", here, serving));
  const isElsewhere = there.details !== undefined && !listensOn(there, wanted);
  if (isElsewhere && here.details?.bind !== undefined) return [["website_missing", ""]];
  if (there.details?.isEnabled === false) return distinct(absentRisks("website_disabled", here, serving));
  // Without the addresses here, those at which visitors reach the website are not known.
  const described = isElsewhere || [here, there].some(isHalfDescribed) ? UNKNOWN : [];
  const found = [...described, ...testRisks(here, there, serving), ...protectionRisks(here, there)];
  // Less protection says nothing of the servers.
  const isReached = found.every(([risk]) => RISKS[risk] !== "loss" || risk === "website_less_protected");
  if (isReached && usable(here) !== 0) found.push(...serverRisks(there));
  if (differencesBetween(here, there).length > 0) found.push(["website_differs", ""]);
  return distinct(found);
}

function distinct(risks: readonly WebsiteRisk[]): readonly WebsiteRisk[] {
  return risks.length < 2 ? risks : [...new Map(risks.map((each) => [each.join(" "), each])).values()];
}

/** Returns the difference that an appliance serves a website which the other one lacks, or has disabled. */
export function servesOnly(
  there: WebsiteAtMember | Absence,
  website: WebsiteVerdict,
  other: string,
): readonly WebsiteRisk[] {
  const isOff =
    website.lacking.includes(other) || websiteAtMember(website, other)?.known.details?.isEnabled === false;
  const isThere = typeof there === "object" && there.details?.isEnabled === true;
  return isOff && isThere ? [["website_differs", ""]] : [];
}

function listensOn({ known: { bind } }: WebsiteAtMember, wanted: readonly string[]): boolean {
  const listening = new Set(bind);
  return bind.length === 0 || wanted.every((address) => listening.has(address));
}

/** Whether the description lacks something that decides whether visitors are served. */
function isHalfDescribed({ details }: WebsiteAtMember): boolean {
  return details !== undefined && (details.isEnabled === undefined || details.bind === undefined);
}

function serverRisks(there: WebsiteAtMember): readonly WebsiteRisk[] {
  const servers = usable(there);
  if (servers === 0) return [["website_backends_lost", ""]];
  return servers === undefined && there.details !== undefined ? UNKNOWN : [];
}

function usable({ details }: WebsiteAtMember): number | undefined {
  return details && usableBackends(details);
}

/** Returns the risks by tests. Only protocols that are up here can be lost. */
function testRisks(
  here: WebsiteAtMember,
  there: WebsiteAtMember,
  others: readonly WebsiteAtMember[],
): readonly WebsiteRisk[] {
  const ours = here.results.length > 0 ? here.results : untested(here, there);
  if (ours.length === 0) return UNKNOWN;
  return ours.flatMap(({ protocol, result }): readonly WebsiteRisk[] => {
    if (result === "down") return [];
    const port = portOf(here, protocol);
    const otherPort = portOf(there, protocol);
    const isPortKnown = port !== undefined && otherPort !== undefined;
    const isElsewhere = otherPort === "none" || (isPortKnown && port !== otherPort);
    const at = isElsewhere ? others.find((each) => isPortOf(each, protocol, port)) : there;
    if (at === undefined) return result === "up" ? [["website_missing", protocol]] : UNKNOWN;
    // What is not described is tested all the same.
    if (at === there && !isPortKnown && here.details !== undefined && there.details !== undefined)
      return UNKNOWN;
    return at === there ? risksAt(at, protocol, result) : standInRisks(here, at, protocol, result);
  });
}

/** Returns the risks of a protocol that another website of the host, with a mode and servers of its own, serves instead. */
function standInRisks(
  here: WebsiteAtMember,
  at: WebsiteAtMember,
  protocol: Protocol,
  before: ProtocolResult["result"],
): readonly WebsiteRisk[] {
  const tested = risksAt(at, protocol, before);
  const servers = tested.length === 0 && usable(here) !== 0 ? serverRisks(at) : [];
  const own = [...protectionRisks(here, at), ...servers].map(([risk]): WebsiteRisk =>
    RISKS[risk] === "loss" ? [risk, protocol] : [risk, ""],
  );
  return [...tested, ...own];
}

/** Returns the risks of a protocol that a website offers at the same port. */
function risksAt(
  { results }: WebsiteAtMember,
  protocol: Protocol,
  before: ProtocolResult["result"],
): readonly WebsiteRisk[] {
  const after = results.find((each) => each.protocol === protocol)?.result ?? "unknown";
  if (after === "up") return [];
  return before === "up" && after === "down" ? [["website_down", protocol]] : UNKNOWN;
}

/**
 * Returns the risks of a website that is missing or disabled at the other appliance, where other websites of its host may serve a part of
 * it: `http` at port 80 is a part of `both`.
 */
function absentRisks(
  risk: "website_missing" | "website_disabled",
  here: WebsiteAtMember,
  serving: readonly WebsiteAtMember[],
): readonly WebsiteRisk[] {
  const ours = here.results.filter(({ result }) => result !== "down");
  const found = ours.flatMap(({ protocol, result }): readonly WebsiteRisk[] => {
    const port = portOf(here, protocol);
    const at = serving.find((each) => isPortOf(each, protocol, port));
    if (at !== undefined) return standInRisks(here, at, protocol, result);
    const ports = [here, ...serving].map((each) => portOf(each, protocol));
    return serving.length === 0 || !ports.includes(undefined) ? [[risk, protocol]] : UNKNOWN;
  });
  return found.length === ours.length && found.every(([each]) => each === risk) ? [[risk, ""]] : found;
}

function isPortOf(website: WebsiteAtMember, protocol: Protocol, port: number | "none" | undefined): boolean {
  return port !== undefined && portOf(website, protocol) === port;
}

function untested({ known }: WebsiteAtMember, there: WebsiteAtMember) {
  const { protocols = there.results.map(({ protocol }) => protocol) } = known;
  return protocols.map((protocol) => ({ protocol, result: "unknown" as const }));
}

/** Returns the port at which a member offers a website by a protocol; `undefined` if that is not known. */
export function portOf({ details }: WebsiteAtMember, protocol: Protocol): number | "none" | undefined {
  if (details?.protocol === undefined) return undefined;
  const offered: readonly Protocol[] = PROTOCOLS[details.protocol];
  if (!offered.includes(protocol)) return "none";
  return details.protocol === "both" && protocol === "http" ? details.secondPort : details.port;
}

/** The most other websites of a host that are looked at. */
const MAX_ALIKE = 8;

/** Returns a function that returns the other websites of the host of each of these websites. */
export const alikeIn = once((websites: ClusterVerdict["websites"]) => {
  const byHost = groupBy(websites.values(), hostOf);
  return (website: WebsiteVerdict): readonly WebsiteVerdict[] => {
    const host = hostOf(website);
    const same = host === "" ? [] : (byHost.get(host) ?? []).slice(0, MAX_ALIKE + 1);
    return same.filter((each) => each !== website).slice(0, MAX_ALIKE);
  };
});

/** Returns the host of a website, without its port; an empty text if it is not known. */
function hostOf({ at }: WebsiteVerdict): string {
  const host = at.find(({ known }) => known.details !== undefined)?.known.details?.host ?? "";
  return canonicalHost(host);
}

/**
 * Returns another website of the same host at a member, if the member offers by it all that this one offers: `http` at port 80 is also a part
 * of `both`, which has the address of its other port.
 */
export function standInAt(
  alike: readonly WebsiteVerdict[],
  member: string,
  here: WebsiteAtMember | undefined,
): WebsiteAtMember | undefined {
  const { protocol } = here?.details ?? {};
  if (here === undefined || protocol === undefined) return undefined;
  const found = alike.flatMap((website) => websiteAtMember(website, member) ?? []);
  return found.find((there) =>
    PROTOCOLS[protocol].every((each) => portOf(here, each) === portOf(there, each)),
  );
}

/** Returns the first of these websites that offers a protocol at a member, and at the same port as here. */
export function protocolAt(
  websites: readonly WebsiteVerdict[],
  member: string,
  here: WebsiteAtMember | undefined,
  protocol: Protocol,
): WebsiteAtMember | undefined {
  const port = here && portOf(here, protocol);
  const found = websites.flatMap((website) => websiteAtMember(website, member) ?? []);
  return found.find((there) => there.details?.isEnabled !== false && isPortOf(there, protocol, port));
}

const PROTECTION: Readonly<Record<WebsiteMode, number>> = { pass: 0, detect: 1, protect: 2 };

function protectionRisks(
  { details: here }: WebsiteAtMember,
  { details: there }: WebsiteAtMember,
): readonly WebsiteRisk[] {
  if (here === undefined || there === undefined || here.mode === there.mode || there.mode === "protect")
    return [];
  if (here.mode === undefined || there.mode === undefined) return UNKNOWN;
  return PROTECTION[there.mode] < PROTECTION[here.mode] ? [["website_less_protected", ""]] : [];
}

const ASPECTS = ["protocol", "mode", "backends"] as const;
export type Aspect = (typeof ASPECTS)[number];

/** Returns the differences between both appliances' descriptions of the website. Less protection there is a risk of its own. */
export function differencesBetween(here: WebsiteAtMember, there: WebsiteAtMember): readonly Aspect[] {
  const [ours, theirs] = [here.details, there.details];
  if (ours === undefined || theirs === undefined) return [];
  return ASPECTS.filter((aspect) => {
    const [one, other] = [partOf(ours, aspect), partOf(theirs, aspect)];
    const isDifferent = one !== undefined && other !== undefined && one !== other;
    return isDifferent && (aspect !== "mode" || protectionRisks(here, there).length === 0);
  });
}

/** Returns a part of a description; `backends` is the digest of the servers. */
function partOf({ protocol, mode, backends }: WebsiteDetails, aspect: Aspect): string | undefined {
  return { protocol, mode, backends: backends?.digest }[aspect];
}
