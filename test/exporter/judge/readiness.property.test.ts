import * as fc from "fast-check";
import { expect, test } from "vitest";
import { gathered, type WebsiteMode } from "../../../src/exporter/api/website-details.ts";
import { PROTOCOLS, type Protocol, type ProtocolSetting } from "../../../src/exporter/api/website-test.ts";
import type { FailureReason } from "../../../src/exporter/api/failure.ts";
import type { Observation } from "../../../src/exporter/polling/observation.ts";
import type { ReadinessState } from "../../../src/exporter/judge/states.ts";
import { clustersOf, fleetOf } from "../fleet/support.ts";
import {
  applianceOf,
  failed,
  interfaceOf,
  listOf,
  seen,
  WALL_MS,
  websiteOf,
} from "../../support/observations.ts";
import { createJudge } from "./support.ts";

/** `lapsed`: known before, and the latest poll failed; `refused`: it failed from the beginning. */
type Outcome = "known" | "lapsed" | "refused" | "pending";

interface Interface {
  readonly vhid: number;
  /** The VIP first. */
  readonly addresses: readonly string[];
  /** Whether its aliases are. */
  readonly isReadable: boolean;
  readonly state: string;
  readonly priority: number | undefined;
}

interface Site {
  readonly id: number;
  /** Empty: the details have none. */
  readonly host: string;
  readonly details: Outcome;
  readonly isEnabled: boolean;
  /** Empty: all addresses. */
  readonly bind: readonly string[];
  readonly mode: WebsiteMode | undefined;
  readonly protocol: ProtocolSetting;
  readonly isUsable: boolean;
  /** The part of the details that cannot be read; then `isEnabled` or `bind` is what follows from the others. */
  readonly unreadable: "" | "status" | "bind" | "rhost";
  readonly tests: Readonly<Record<Protocol, "up" | "down" | "unknown">> | "pending";
}

interface Member {
  readonly name: string;
  readonly isEnabled: boolean;
  /** Without it, its websites are configured. */
  readonly hasDiscovery: boolean;
  readonly exclude: readonly number[];
  readonly limit: number;
  readonly vrrp: Outcome;
  readonly reason: FailureReason;
  readonly interfaces: readonly Interface[];
  readonly list: Outcome;
  /** Entries of the list that cannot be read. */
  readonly invalid: readonly string[];
  readonly sites: readonly Site[];
}

const VIPS = ["192.0.2.101", "192.0.2.102"];
/** An alias of the first group, and an address that does not move. */
const [ALIAS, FIXED] = ["192.0.2.7", "192.0.2.55"];
const HOSTS = ["shop.example:443", "blog.example:443", "wiki.example:443"];

/** Members differ in few places, so that each difference decides now and then. */
const often = <Of>(usual: Of, ...others: readonly Of[]) =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );
const outcome = often<Outcome>("known", "lapsed", "refused", "pending");
const result = often<"up" | "down" | "unknown">("up", "down", "unknown");

const memberOf = (name: string, isMaster: readonly boolean[]): fc.Arbitrary<Member> => {
  const interfaces = VIPS.map((vip, nth) => {
    const usual = nth === 0 ? [vip, ALIAS] : [vip];
    return fc.record({
      isThere: often(true, false),
      vhid: often(nth + 1, 3 - nth),
      addresses: often(usual, usual.toReversed(), [vip], [...VIPS], [vip, ALIAS]),
      isReadable: often(true, false),
      state: often(isMaster[nth] === true ? "MASTER" : "BACKUP", "MASTER", "BACKUP", "FAULT", "LEARNING"),
      priority: often<number | undefined>(isMaster[nth] === true ? 200 : 100, 50, 100, undefined),
    });
  });
  const sites = HOSTS.map((host, nth) =>
    fc.record({
      isThere: often(true, false),
      id: fc.constant(nth + 1),
      host: often(host, ""),
      details: outcome,
      isEnabled: often(true, false),
      bind: often<readonly string[]>(
        [[], VIPS.slice(0, 1), [ALIAS]][nth] ?? [],
        [],
        VIPS,
        VIPS.slice(1),
        [FIXED],
        [VIPS[0] ?? "", FIXED],
      ),
      mode: often<WebsiteMode | undefined>("detect", "pass", "protect", undefined),
      protocol: often<ProtocolSetting>("both", "http", "https"),
      isUsable: often(true, false),
      unreadable: often<Site["unreadable"]>("", "status", "bind", "rhost"),
      tests: fc.oneof(
        { weight: 12, arbitrary: fc.record({ http: result, https: result }) },
        { weight: 1, arbitrary: fc.constant("pending" as const) },
      ),
    }),
  );
  return fc
    .record({
      isEnabled: often(true, true, false),
      hasDiscovery: often(true, false),
      areIdsOthers: often(false, true),
      exclude: often<readonly number[]>([], [1], [2]),
      limit: often(200, 2),
      vrrp: outcome,
      reason: fc.constantFrom<FailureReason>("timeout", "connect", "http_status", "decode"),
      interfaces: fc.tuple(...interfaces),
      list: outcome,
      invalid: often<readonly string[]>([], ["4x"]),
      sites: fc.tuple(...sites),
    })
    .map((given) => ({
      name,
      ...given,
      interfaces: given.interfaces.filter(({ isThere }) => isThere),
      sites: given.sites
        .filter(({ isThere }) => isThere)
        .map(({ unreadable, ...site }) => ({
          ...site,
          unreadable,
          isEnabled: site.isEnabled || unreadable === "status",
          bind: unreadable === "bind" ? [] : site.bind,
          id: given.areIdsOthers && given.hasDiscovery ? site.id + 10 : site.id,
        })),
    }));
};

const cluster: fc.Arbitrary<readonly Member[]> = fc
  .record({ size: fc.constantFrom(2, 3), masters: fc.tuple(often(0, 1), often(0, 1)) })
  .chain(({ size, masters }) =>
    fc.tuple(
      ...["a", "b", "c"].slice(0, size).map((name, nth) =>
        memberOf(
          name,
          masters.map((each) => each === nth),
        ),
      ),
    ),
  );

/** The polls of an operation, in their order. */
function polls(state: Outcome, known: Observation, failure: Observation): readonly Observation[] {
  return { known: [known], lapsed: [known, failure], refused: [failure], pending: [] }[state];
}

/** The sites of which an appliance is asked. */
function watched({ hasDiscovery, exclude, limit, sites, list }: Member): readonly Site[] {
  if (!hasDiscovery) return sites;
  const isListed = list === "known" || list === "lapsed";
  return isListed ? sites.filter(({ id }) => !exclude.includes(id)).slice(0, limit) : [];
}

/** The polls of a member: those of its VRRP list; those of its websites, by stages, since the later ones follow from the earlier. */
function pollsOf(member: Member): { readonly vrrp: readonly Observation[]; readonly stages: Stages } {
  const { name, vrrp, reason, interfaces, list, invalid, sites, hasDiscovery } = member;
  const reported = interfaces.map(({ addresses: [vip = "", ...aliases], isReadable, ...each }, nth) =>
    interfaceOf({ name: `carp${nth}`, vip, aliases: isReadable ? aliases : undefined, ...each }),
  );
  const ids = sites.map(({ id }) => id);
  const lists = polls(list, seen.websites(name, ids, { invalid }), failed.websites(name, "decode"));
  const details = watched(member).map(({ id, host, isUsable, bind, details: state, ...site }) => {
    const { unreadable, isEnabled } = site;
    const backends = gathered([{ address: "192.0.2.81:80", role: "active", isOk: isUsable }]);
    const [hostName = ""] = host.split(":");
    const described = {
      ...site,
      name: hostName,
      host: hostName,
      isEnabled: unreadable === "status" ? undefined : isEnabled,
      backends: unreadable === "rhost" ? undefined : backends,
      bind: unreadable === "bind" ? undefined : bind.length === 0 ? ["*"] : bind,
    };
    return polls(state, seen.details(name, id, described), failed.details(name, id, "decode"));
  });
  const tests = watched(member).map(({ id, tests: found }) => {
    if (found === "pending") return [];
    const statuses = {
      up: { status: 200 },
      down: { status: 503 },
      unknown: { status: undefined, text: "unreadable" },
    };
    const blocks = PROTOCOLS.both.map((protocol) => ({ protocol, ...statuses[found[protocol]] }));
    return [1, 2].map(() => seen.website(name, id, blocks));
  });
  return {
    vrrp: polls(vrrp, seen.vrrp(name, listOf(reported)), failed.vrrp(name, reason)),
    stages: [hasDiscovery ? [lists] : [], hasDiscovery ? details : [], tests],
  };
}

/** Sequences whose order among each other is free. */
type Stages = readonly (readonly (readonly Observation[])[])[];

/** What is judged after these polls, the members' in turn; `order`: numbers that decide about the order, as far as it is free. */
function judged(members: readonly Member[], order: readonly number[] = []) {
  const config = members.map(({ name, isEnabled, hasDiscovery, exclude, limit, sites }) =>
    applianceOf({
      name,
      cluster: "ams",
      enabled: isEnabled,
      discovery: hasDiscovery ? { exclude, limit } : undefined,
      websites: hasDiscovery ? [] : sites.map(({ id }) => websiteOf({ id })),
    }),
  );
  let drawn = 0;
  const draw = () => order[drawn++ % order.length] ?? 0;
  const enabled = members.filter(({ isEnabled }) => isEnabled).map(pollsOf);
  const sequences = enabled.flatMap(({ vrrp, stages }) => [
    vrrp,
    stages
      .flatMap((stage) =>
        stage.map((each) => [draw(), each] as const).toSorted((one, other) => one[0] - other[0]),
      )
      .flatMap(([, each]) => each),
  ]);
  const observations: Observation[] = [];
  for (let rest = sequences; rest.length > 0; rest = rest.filter((each) => each.length > 0)) {
    const nth = draw() % rest.length;
    observations.push(...(rest[nth] ?? []).slice(0, 1));
    rest = rest.map((each, place) => (place === nth ? each.slice(1) : each));
  }
  // What the groups are is certain once all were polled again.
  const again = enabled.flatMap(({ vrrp }) => vrrp.slice(-1));
  const fleet = fleetOf(config);
  for (const [nth, each] of [...observations, ...again].entries()) fleet.record(each, nth);
  const [facts] = clustersOf(fleet);
  if (facts === undefined) throw new Error("a cluster is configured");
  return createJudge().judge(facts, { wallMs: WALL_MS, monotonicMs: 0 }).now;
}

/** An interface as its appliance last reported it: only the addresses that can be read. */
interface Said extends Interface {
  readonly by: Member;
}

const answers = ({ vrrp }: Member): boolean => vrrp === "known";

function saidBy(by: Member): readonly Said[] {
  if (by.vrrp !== "known" && by.vrrp !== "lapsed") return [];
  return by.interfaces.map((each) => ({
    ...each,
    by,
    addresses: each.isReadable ? each.addresses : each.addresses.slice(0, 1),
  }));
}

/** The VRRP groups. */
function groupsIn(all: readonly Said[]): readonly (readonly Said[])[] {
  const rest = new Set(all);
  return all.flatMap((first) => {
    const group = new Set(rest.has(first) ? [first] : []);
    for (const one of group) {
      rest.delete(one);
      for (const other of rest) if (one.vhid === other.vhid && areOne(one, other)) group.add(other);
    }
    return group.size === 0 ? [] : [[...group]];
  });
}

function areOne({ addresses: ours }: Said, { addresses: theirs }: Said): boolean {
  return theirs.includes(ours[0] ?? "") || ours.includes(theirs[0] ?? "");
}

/** Those that are MASTER now. */
function mastersIn(some: readonly Said[]): ReadonlySet<Member> {
  return new Set(some.flatMap(({ by, state }) => (answers(by) && state === "MASTER" ? by : [])));
}

const STATE_WORDS = new Set(["MASTER", "BACKUP", "FAULT"]);

/** Those that take over a group from its MASTER, which of several is luck, and those of `silent` that may do so instead. */
function heirsOf(group: readonly Said[], silent: readonly Member[]) {
  const masters = mastersIn(group);
  const backups = group.filter(({ by, state }) => answers(by) && !masters.has(by) && state === "BACKUP");
  const priorityOf = (member: Member): number | undefined => {
    const known = group.flatMap(({ by, priority }) => (by === member ? (priority ?? []) : []));
    return known.length === 0 ? undefined : Math.max(...known);
  };
  const heirs = [...new Set(backups.map(({ by }) => by))];
  const highest = Math.max(...heirs.map((each) => priorityOf(each) ?? 0));
  const mayWin = (each: Member) => (priorityOf(each) ?? highest) >= highest;
  return { heirs: heirs.filter(mayWin), doubtful: silent.filter(mayWin) };
}

/** What becomes of something that visitors use. `nobody`: no appliance serves it. */
type Fate = "nobody" | "lost" | "unknown" | "kept";
type Fates = readonly (readonly [subject: string, Fate])[];

/** What becomes of the addresses of the groups if an appliance stops, and who takes over which. */
function addressFates(members: readonly Member[], stopped: Member) {
  const all = members.flatMap(saidBy);
  const fates: (readonly [string, Fate])[] = [];
  const moved = new Map<Member, string[]>();
  const taken = new Map<Member, ReadonlySet<string>>();
  const wanted: (readonly [Member, string])[] = [];
  for (const group of groupsIn(all)) {
    const own = group.filter(({ by }) => by === stopped);
    if (own.length === 0) continue;
    const addresses = new Set(group.flatMap((each) => each.addresses));
    const others = all.filter(
      (each) => !group.includes(each) && each.addresses.some((one) => addresses.has(one)),
    );
    const masters = mastersIn(group);
    const contenders = masters.size === 0 ? masters : new Set([...masters, ...mastersIn(others)]);
    const silent = members.filter(
      (each) => !answers(each) && (each.vrrp !== "lapsed" || group.some(({ by }) => by === each)),
    );
    const puzzling = members.filter((each) => {
      const states = group.flatMap(({ by, state }) => (by === each && answers(by) ? state : []));
      const isOther = states.every((state) => state !== "MASTER" && state !== "BACKUP");
      return isOther && states.some((state) => !STATE_WORDS.has(state));
    });
    if (contenders.size > 1) fates.push(["groups", "unknown"]);
    if (!masters.has(stopped)) {
      // Another one may be MASTER, and this one about to become it.
      const isUnknown = contenders.size === 0 && silent.some(({ vrrp }) => vrrp !== "pending");
      if (isUnknown) fates.push(["groups", "unknown"]);
      continue;
    }
    const ours = [...new Set(own.flatMap((each) => each.addresses))];
    if (contenders.size > 1) continue;
    const { heirs, doubtful } = heirsOf(group, [...silent, ...puzzling]);
    const isLost =
      silent.length === 0 || silent.some(({ vrrp, reason }) => vrrp !== "pending" && LOST.has(reason));
    const isNobody = isLost && puzzling.length === 0;
    if (heirs.length === 0) fates.push(["groups", isNobody ? "nobody" : "unknown"]);
    else if (doubtful.length > 0) fates.push(["groups", "unknown"]);
    for (const heir of heirs) {
      const theirs = group.filter(({ by }) => by === heir);
      const areKnown = [...own, ...theirs].every(({ isReadable }) => isReadable);
      const there = new Set(theirs.flatMap((each) => each.addresses));
      moved.set(heir, [...(moved.get(heir) ?? []), ...ours]);
      // Of several heirs, each may win one group and lose the other.
      if (heirs.length === 1) taken.set(heir, new Set([...(taken.get(heir) ?? []), ...there]));
      if (areKnown)
        wanted.push(...ours.filter((each) => !there.has(each)).map((address) => [heir, address] as const));
      else fates.push(["groups", "unknown"]);
    }
  }
  // An address may come with another group.
  for (const [heir, address] of wanted)
    fates.push([address, taken.get(heir)?.has(address) === true ? "kept" : "lost"]);
  return { fates, moved, all: new Set(all.flatMap(({ addresses }) => addresses)) };
}

/** With these, a member does not answer, as far as anybody knows. */
const LOST: ReadonlySet<FailureReason> = new Set(["timeout", "connect"]);

/** The websites that a member has, as it last said. */
function sitesAt(member: Member): readonly Site[] {
  return watched(member).filter(
    ({ details }) => !member.hasDiscovery || details === "known" || details === "lapsed",
  );
}

/** Whether all websites of a member are known now, but for those that are left out. */
function isWhole(member: Member): boolean {
  const { hasDiscovery, list, invalid } = member;
  const areDetailsKnown = watched(member).every(({ details }) => details === "known");
  return !hasDiscovery || (list === "known" && invalid.length === 0 && areDetailsKnown);
}

/** The listed websites that nobody looks at. */
function leftOutAt(member: Member): readonly Site[] {
  const isListed = member.hasDiscovery && member.list === "known";
  return isListed ? member.sites.filter((each) => !watched(member).includes(each)) : [];
}

const isDescribed = ({ hasDiscovery }: Member, { details }: Site): boolean =>
  hasDiscovery && details === "known";

/** What it is known by in the cluster: where it is only configured, by the id that it has elsewhere. */
function keyOf(members: readonly Member[], { name, hasDiscovery }: Member, { host, id }: Site): string {
  if (hasDiscovery) return host === "" ? `#${id} at ${name}` : host;
  const described = members.filter((each) => each.hasDiscovery).flatMap(sitesAt);
  return described.find((each) => each.id === id && each.isEnabled && each.host !== "")?.host ?? `#${id}`;
}

/** The port at which a website is offered; that of HTTPS, or of the only protocol, is 443. */
function portOf({ protocol: setting }: Site, protocol: Protocol): number | undefined {
  if (!PROTOCOLS[setting].some((each) => each === protocol)) return undefined;
  return setting === "both" && protocol === "http" ? 80 : 443;
}

/** What the tests of a website find by each protocol that is known. */
function resultsOf({ hasDiscovery }: Member, { tests, protocol, isEnabled }: Site) {
  if (tests === "pending" || (hasDiscovery && !isEnabled)) return new Map<Protocol, string>();
  const protocols: readonly Protocol[] = hasDiscovery ? PROTOCOLS[protocol] : PROTOCOLS.both;
  const results = protocols.map((each) => [each, tests[each]] as const);
  return new Map(results.filter(([, found]) => hasDiscovery || found !== "unknown"));
}

const MODES = ["pass", "detect", "protect"];

/** What becomes of a website that visitors reach by the addresses `wanted`. */
function siteFates(
  ours: Site,
  {
    members,
    stopped,
    heir,
    wanted,
  }: { members: readonly Member[]; stopped: Member; heir: Member; wanted: readonly string[] },
): readonly Fate[] {
  const key = keyOf(members, stopped, ours);
  const theirs = sitesAt(heir).find((each) => keyOf(members, heir, each) === key);
  if (theirs === undefined) {
    const leftOut = leftOutAt(heir);
    if (leftOut.some(({ id }) => id === ours.id && heir.exclude.includes(id))) return [];
    const hasAddress = HOSTS.includes(key);
    const areAllKnown =
      heir.hasDiscovery &&
      isWhole(heir) &&
      leftOut.length === 0 &&
      heir.sites.every(({ host }) => host !== "");
    return [hasAddress && areAllKnown ? "lost" : "unknown"];
  }
  const [isKnownHere, isKnownThere] = [isDescribed(stopped, ours), isDescribed(heir, theirs)];
  const fates: Fate[] = [];
  const isInDoubt = isKnownHere && (ours.unreadable === "status" || ours.unreadable === "bind");
  if (isInDoubt) fates.push("unknown");
  if (isKnownThere) {
    const listens = theirs.bind.length === 0 || wanted.every((each) => theirs.bind.includes(each));
    if (!listens) fates.push(isKnownHere && ours.unreadable !== "bind" ? "lost" : "unknown");
    const isUsable = ours.isUsable || !isKnownHere || ours.unreadable === "rhost";
    if (theirs.unreadable === "status" || theirs.unreadable === "bind") fates.push("unknown");
    if (isUsable && theirs.unreadable === "rhost") fates.push("unknown");
    if (isUsable && theirs.unreadable !== "rhost" && !theirs.isUsable) fates.push("lost");
    if (!theirs.isEnabled) fates.push("lost");
    const [before, after] = [ours, theirs].map(({ mode = "" }) => MODES.indexOf(mode));
    const isMode = isKnownHere && before !== undefined && after !== undefined && before !== after;
    if (isMode && after < 2)
      fates.push(before < 0 || after < 0 ? "unknown" : after < before ? "lost" : "kept");
  }
  const [found, there] = [resultsOf(stopped, ours), resultsOf(heir, theirs)];
  const protocols = stopped.hasDiscovery ? PROTOCOLS[ours.protocol] : there.keys();
  const results = found.size > 0 ? found : new Map(Array.from(protocols, (each) => [each, "unknown"]));
  if (results.size === 0) fates.push("unknown");
  for (const [protocol, before] of results) {
    const [port, otherPort] = [ours, theirs].map((each) => portOf(each, protocol));
    const isOffered = !isKnownThere || (otherPort !== undefined && (!isKnownHere || port === otherPort));
    const after = isOffered ? (there.get(protocol) ?? "unknown") : "down";
    if (before === "down" || after === "up") continue;
    fates.push(before === "up" && after === "down" ? "lost" : "unknown");
  }
  return fates;
}

/** A failover that is played through: what visitors get afterwards, beside what they have now. */
function played(members: readonly Member[], stopped: Member): Fates {
  const { fates, moved, all: known } = addressFates(members, stopped);
  const areBeyond = leftOutAt(stopped).some(({ id }) => !stopped.exclude.includes(id));
  const inventories = [
    ["websites", areBeyond ? "unknown" : "kept"] as const,
    ...[stopped, ...moved.keys()].map((each) => ["websites", isWhole(each) ? "kept" : "unknown"] as const),
  ];
  const sites = [...moved].flatMap(([heir, addresses]) =>
    sitesAt(stopped).flatMap((site) => {
      const bind = stopped.hasDiscovery ? site.bind : [];
      const isFixed = !bind.some((each) => known.has(each));
      const wanted = addresses.filter((each) => bind.length === 0 || bind.includes(each));
      const isReached = isFixed || wanted.length > 0;
      const results = [...resultsOf(stopped, site).values()];
      const isDown = results.length > 0 && results.every((each) => each === "down");
      const isOff = stopped.hasDiscovery && !site.isEnabled;
      if (!isReached || isDown || isOff) return [];
      const all = siteFates(site, { members, stopped, heir, wanted });
      return all.map((fate) => [keyOf(members, stopped, site), fate] as const);
    }),
  );
  return [...fates, ...inventories, ...sites];
}

const STATES: Readonly<Record<Fate, ReadinessState>> = {
  nobody: "outage",
  lost: "losses",
  unknown: "unknown",
  kept: "ready",
};

/** By appliance: the state, and what is lost. */
function expected(members: readonly Member[]) {
  if (members.some(({ isEnabled }) => !isEnabled)) return [];
  const masters = mastersIn(members.flatMap(saidBy));
  return members
    .filter((each) => masters.has(each))
    .map((each) => {
      const fates = played(members, each);
      const has = (fate: Fate) => fates.some(([, one]) => one === fate);
      const worst = (["nobody", "lost", "unknown"] as const).find(has) ?? "kept";
      const lost = fates.flatMap(([subject, fate]) => (fate === "lost" ? subject : []));
      return { name: each.name, state: STATES[worst], lost: [...new Set(lost)].toSorted() };
    });
}

function foreseen(members: readonly Member[], order: readonly number[]) {
  return Array.from(judged(members, order).readiness.values(), ({ identity, state, risks }) => {
    const lost = risks
      .filter(({ effect }) => effect === "loss")
      .map(({ risk, subject, key }) => (risk === "address_missing" ? subject : key));
    return { name: identity.appliance, state, lost: [...new Set(lost)].toSorted() };
  });
}

test("what is said before a failover is what happens at it, whatever the order of the polls", () => {
  fc.assert(
    fc.property(cluster, fc.array(fc.nat(99), { minLength: 20, maxLength: 20 }), (members, order) => {
      expect(foreseen(members, order)).toEqual(expected(members));
    }),
    { numRuns: Number(process.env["READINESS_RUNS"] ?? 80) },
  );
});
