import { isDeepStrictEqual } from "node:util";
import {
  membersIn,
  type ApplianceSnapshot,
  type ClusterSnapshot,
  type DiscoverySnapshot,
  type WebsiteSnapshot,
} from "../fleet/snapshot.ts";
import { groupBy } from "../support/group-by.ts";
import { isSame, kept } from "../support/kept.ts";
import { once } from "../support/once.ts";
import {
  sinceOf,
  type Case,
  type ClusterVerdict,
  type GroupVerdict,
  type WebsiteVerdict,
} from "./verdict.ts";
import { judgeWebsite, type View, type WebsiteState } from "./verdicts/website.ts";

/** A cluster whose groups are judged. */
type Subject = Pick<ClusterVerdict, "facts" | "groups">;

/** The verdicts on the websites of a cluster; the same object as before while no test finds anything new, as most do. */
export function websiteVerdicts({
  facts,
  groups,
  before,
  wasPolled,
  at,
}: Case & Subject): ClusterVerdict["websites"] {
  if (before !== undefined && isAsBefore({ facts, groups }, before)) return before.websites;
  const { cluster, labels, appliances, hasDisabled } = facts;
  const mastersFor = mastersIn({ facts, groups });
  const context = { hasGroups: groups.size > 0, hasDisabled };
  const names = namesOf(appliances);
  const verdicts = [...testsByWebsite(appliances)].flatMap(([key, tests]) => {
    const masters = mastersFor(tests.flatMap(({ bind }) => bind));
    const { websiteId, website } = names.get(key) ?? { websiteId: 0, website: key };
    const ids = new Map(tests.toReversed().map((each) => [each.identity.appliance, each.websiteId] as const));
    const isTested = tests.some(isPolled);
    // What a master finds is not unknown before it was asked.
    const isPending = tests.some((test) => masters.has(test.identity.appliance) && !isPolled(test));
    return protocolsOf(tests).map((protocol): WebsiteVerdict => {
      const old = before?.websites.get(websiteKey({ key, protocol }));
      const views = tests.flatMap((test) => viewOf(test, protocol, masters));
      const found = isTested ? judgeWebsite(views, context) : undefined;
      const judged = found === "unknown" && isPending ? undefined : found;
      const isElsewhere = views.every((view) => !view.isMaster);
      const state = isElsewhere ? WHILE[atMasters(key, appliances, masters)](judged) : judged;
      const sinceMs = sinceOf(old, state, wasPolled && old?.state !== undefined, at);
      const same = isDeepStrictEqual(old?.ids, ids) ? (old?.ids ?? ids) : ids;
      const named = { key, websiteId, website, ids: same, protocol };
      return kept(old, { kind: "website", cluster, labels, ...named, state, sinceMs });
    });
  });
  return new Map(verdicts.map((verdict) => [websiteKey(verdict), verdict]));
}

/** What the known masters say of a website that none of them tests. */
type AtMasters = "off" | "perhaps" | "absent";

type State = WebsiteState | undefined;

/** What the verdict of the other members is then: the masters' visitors do not get what those find. */
const WHILE: Readonly<Record<AtMasters, (judged: State) => State>> = {
  off: (judged) => (judged === "unknown" || judged === "down" ? undefined : judged),
  perhaps: (judged) => (judged === "unknown" ? undefined : judged === "down" ? "partially_down" : judged),
  absent: (judged) => judged,
};

/**
 * - `off`: one has it disabled, and serves it to nobody.
 * - `perhaps`: one has it and does not test it, or may have it: not all of its websites are known, or none are discovered.
 * - `absent`: all lack it, or there is none.
 */
function atMasters(
  key: string,
  appliances: ClusterSnapshot["appliances"],
  masters: ReadonlySet<string>,
): AtMasters {
  const known = appliances.filter(({ identity }) => masters.has(identity.appliance));
  const isOff = known.some(({ found }) =>
    found.some((website) => keyOf(website) === key && website.details.isEnabled === false),
  );
  if (isOff) return "off";
  const mayHave = known.some(({ discovery }) => {
    if (discovery === undefined) return !isOwnKey(key);
    return !discovery.isComplete || discovery.known.has(key) || isOwnKey(key);
  });
  return mayHave ? "perhaps" : "absent";
}

/** Whether everything on which verdicts on websites depend is as before. */
function isAsBefore(now: Subject, before: Subject): boolean {
  const isSameOf = <T>(of: (member: ApplianceSnapshot) => T, madeOf: (value: T) => readonly unknown[]) =>
    isSame(now.facts.appliances.map(of), before.facts.appliances.map(of), madeOf);
  return (
    isSame(contextOf(now), contextOf(before)) &&
    isSameOf(({ discovery }) => discovery, knownOf) &&
    isSameOf(
      ({ found }) => found,
      (found) => found,
    ) &&
    now.facts.appliances.every(({ websites }, nth) =>
      isSame(websites, before.facts.appliances[nth]?.websites ?? [], testOf),
    )
  );
}

function contextOf({ facts: { labels, hasDisabled, appliances }, groups }: Subject): readonly unknown[] {
  const members = appliances.flatMap(({ identity, vrrp }) => [identity, vrrp.list]);
  return [labels, hasDisabled, ...groups.values(), ...members];
}

function knownOf(discovery: DiscoverySnapshot | undefined): readonly unknown[] {
  return discovery === undefined ? [] : [discovery.isComplete, ...discovery.known.keys()];
}

/** Of a test, what counts. */
function testOf(test: WebsiteSnapshot): readonly unknown[] {
  const results = test.results.map(({ protocol, result }) => `${protocol} ${result}`);
  return [test.websiteId, test.website, test.address, test.bind, isPolled(test), ...results];
}

/**
 * The appliances that are known to be MASTER of a VIP on which a website listens; of any VIP where that is not known. Of a group
 * that is changing, the latest master counts too, until the change is proven.
 */
export function mastersIn({ facts, groups }: Subject): (bind: readonly string[]) => ReadonlySet<string> {
  const listening = listeningIn(facts);
  return (bind) => {
    const vips = new Set(listening(bind).map(({ vip }) => vip));
    const own = [...groups.values()].filter((group) => vips.has(group.facts.vip));
    return new Set(own.flatMap(mastersOf));
  };
}

function mastersOf({ facts, state, latestMaster }: GroupVerdict): readonly string[] {
  const masters = membersIn(facts, "master");
  return state === "changing" && latestMaster !== undefined ? [...masters, latestMaster] : masters;
}

/** An address on which a website listens, and the VIP to which it belongs. */
interface Listening {
  readonly address: string;
  readonly vip: string;
}

type ListeningAt = (bind: readonly string[]) => readonly Listening[];

/** Where a website listens in a cluster: at those VIPs, and aliases of VIPs, that it names; else at all VIPs. */
export const listeningIn = once(({ groups }: ClusterSnapshot): ListeningAt => {
  const vips = [...new Set(groups.map(({ vip }) => vip))].map((vip) => ({ address: vip, vip }));
  const aliases = groups.flatMap(({ vip, aliases: of }) => of.map((address) => ({ address, vip })));
  const byAddress = new Map([...aliases, ...vips].map((each) => [each.address, each]));
  return (bind) => {
    const own = bind.flatMap((address) => byAddress.get(address) ?? []);
    return own.length > 0 ? [...new Set(own)] : vips;
  };
});

type Named = Pick<WebsiteSnapshot, "identity" | "websiteId" | "website" | "address">;

/** What identifies a website in its cluster: host and port; else, where there are details, its id and its appliance. */
export function keyOf({ address, websiteId, identity }: Named): string | undefined {
  return address === "" ? `#${websiteId} at ${identity.appliance}` : address;
}

/** Whether that is known of one appliance alone. */
export function isOwnKey(key: string): boolean {
  return key.startsWith("#");
}

/** By `keyOf`, else by id, like another appliance's website with that id. */
function keysIn(appliances: ClusterSnapshot["appliances"]): (website: Named) => string {
  const keys = new Map<number, string>();
  for (const test of appliances.flatMap(({ websites }) => websites)) {
    const key = keyOf(test);
    if (key !== undefined && !isOwnKey(key) && !keys.has(test.websiteId)) keys.set(test.websiteId, key);
  }
  return (website) => keyOf(website) ?? keys.get(website.websiteId) ?? `#${website.websiteId}`;
}

/** The tests of a cluster by website. */
function testsByWebsite(
  appliances: ClusterSnapshot["appliances"],
): ReadonlyMap<string, readonly WebsiteSnapshot[]> {
  return groupBy(
    appliances.flatMap(({ websites }) => websites),
    keysIn(appliances),
  );
}

/** Id and name of each website, together unique: those at the first appliance that has it, tested or not. */
export function namesOf(
  appliances: ClusterSnapshot["appliances"],
): ReadonlyMap<string, Pick<Named, "websiteId" | "website">> {
  const key = keysIn(appliances);
  const all = appliances.flatMap(({ websites, found, discovery }) => [
    ...[...websites, ...found].map((website) => [key(website), website] as const),
    ...(discovery?.known ?? []),
  ]);
  const used = new Set<string>();
  const names = new Map<string, Pick<Named, "websiteId" | "website">>();
  for (const [of, { websiteId, website: given }] of all) {
    if (names.has(of)) continue;
    const website = unusedName(used, websiteId, given, of);
    used.add(`${websiteId} ${website}`);
    names.set(of, { websiteId, website });
  }
  return names;
}

/** Two websites may have the same id and name at different appliances. */
function unusedName(used: ReadonlySet<string>, id: number, name: string, key: string): string {
  return used.has(`${id} ${name}`) ? unusedName(used, id, `${name} (${key})`, key) : name;
}

/** Identifies a website and protocol within its cluster. */
function websiteKey({ key, protocol }: Pick<WebsiteVerdict, "key" | "protocol">): string {
  return `${key} ${protocol}`;
}

function protocolsOf(tests: readonly WebsiteSnapshot[]): readonly WebsiteVerdict["protocol"][] {
  const known = new Set(tests.flatMap(({ results }) => results.map(({ protocol }) => protocol)));
  return known.size === 0 ? [""] : [...known].toSorted();
}

/** None from an appliance whose answer is known and lacks the protocol. */
function viewOf(
  { results, identity }: WebsiteSnapshot,
  protocol: WebsiteVerdict["protocol"],
  masters: ReadonlySet<string>,
): readonly View[] {
  const found = results.find((each) => each.protocol === protocol);
  if (found === undefined && results.length > 0) return [];
  return [{ isMaster: masters.has(identity.appliance), result: found?.result ?? "unknown" }];
}

function isPolled({ health }: WebsiteSnapshot): boolean {
  return health.state !== "never_polled";
}
