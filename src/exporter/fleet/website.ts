import type { WebsiteDetails } from "../api/website-details.ts";
import { exportedStatuses, uncertainStatuses } from "../api/website-test.ts";
import { statusSetHas } from "../config/config.ts";
import type { Observation } from "../polling/observation.ts";
import { canonicalHost } from "../../support/address.ts";
import { isEqual, kept } from "../../support/kept.ts";
import { afterPoll, neverPolled, operationAt, type OperationFacts } from "./operation-facts.ts";
import type {
  KnownWebsite,
  ProtocolResult,
  StatusesSnapshot,
  StatusSnapshot,
  WebsiteSnapshot,
} from "./snapshot.ts";

/** A website that is tested, and the results of its tests. */
export interface WebsiteFacts extends WebsiteSnapshot, OperationFacts<StatusesSnapshot> {
  readonly known: KnownWebsite;
  /** The website that the id belongs to, as far as that was ever known. */
  readonly owner: Pick<WebsiteDetails, "name" | "host">;
}

/** Returns the facts about a website that is tested now. `last` has the facts before, if its id belonged to a website that was tested. */
export function websiteFor(
  last: WebsiteFacts | undefined,
  known: KnownWebsite,
  firstExpiryMs: number,
): WebsiteFacts {
  if (last?.known === known) return last;
  const isKept = last !== undefined && !isTakenOver(last.owner, known.details);
  const before = isKept ? last : { ...NEVER_TESTED, ...neverPolled(firstExpiryMs) };
  const { identity, websiteId, website, address, protocols, expectStatus, details } = known;
  const again = isKept ? judgedAgain(last, known) : {};
  const { name, host } = details ?? before.owner;
  const owner = kept(before.owner, { name: name || before.owner.name, host: host || before.owner.host });
  const named = { identity, websiteId, website, address };
  const isTested = among(protocols);
  const seen = before.seen && {
    kind: "website_statuses" as const,
    ...named,
    statuses: before.seen.statuses
      .filter(isTested)
      .map((each) => ({ ...each, isUp: statusSetHas(expectStatus, each.status) })),
    uncertain: before.seen.uncertain.filter(isTested),
  };
  const tested = { kind: "website_test", ...named, known, owner } as const;
  return { ...before, ...again, ...tested, seen, found: before.found && seen };
}

/**
 * Returns the results under another configuration. A protocol that is not tested any more has none. Nobody knows how earlier tests would
 * have ended under another expectation, so the latest status counts at once, as that of a first test. If it was not expected before, or is
 * not now, nobody knows when the website was up.
 */
function judgedAgain(
  { known: old, seen, results, lastUp }: WebsiteFacts,
  { protocols, expectStatus }: KnownWebsite,
): Pick<WebsiteFacts, "results" | "lastUp"> {
  const isTested = among(protocols);
  const left = results?.filter(isTested);
  // A website is not unknown before the first test of its protocols.
  const known = left?.length === 0 && results?.length !== 0 ? undefined : left;
  const knownUp = lastUp.filter(isTested);
  if (isEqual(old.expectStatus, expectStatus)) return { results: known, lastUp: knownUp };
  const statusOf = ({ protocol }: Pick<ProtocolResult, "protocol">): StatusSnapshot | undefined =>
    seen?.statuses.find((each) => each.protocol === protocol);
  const isUpNow = ({ status }: StatusSnapshot): boolean => statusSetHas(expectStatus, status);
  return {
    results: known?.map((each) => {
      const status = statusOf(each);
      return resultAgain(each, status && (isUpNow(status) ? "up" : "down"));
    }),
    lastUp: knownUp.filter((each) => {
      const status = statusOf(each);
      return status?.isUp === true && isUpNow(status);
    }),
  };
}

function among(protocols: KnownWebsite["protocols"]): (of: Pick<ProtocolResult, "protocol">) => boolean {
  return ({ protocol }) => protocols?.includes(protocol) ?? true;
}

/** Returns the result by the latest status alone, if there is one. A test without a status stays unknown. */
function resultAgain(before: ProtocolResult, counts: "up" | "down" | undefined): ProtocolResult {
  const { latest, result } = before;
  const forgetful = { ...before, refutations: 0, downsMs: NEVER, isUnstable: false };
  if (counts === undefined) return forgetful;
  if (latest !== "unknown") return { ...forgetful, latest: counts, result: counts };
  return { ...forgetful, result: result === "unknown" ? result : counts };
}

const NEVER_TESTED = { owner: { name: "", host: "" }, results: undefined, lastUp: [] } as const;

/** Whether an id now belongs to another website: by name and host, or by host alone if there are no names. */
function isTakenOver(before: WebsiteFacts["owner"], now: WebsiteDetails | undefined): boolean {
  if (!now?.host || before.host === "" || canonicalHost(before.host) === canonicalHost(now.host))
    return false;
  const areNamed = before.name !== "" && now.name !== "";
  return areNamed ? before.name !== now.name : before.name === now.name;
}

/** Returns the facts about a website at the monotonic instant `nowMs`. */
export function websiteAt(website: WebsiteFacts, nowMs: number): WebsiteFacts {
  const now = operationAt(website, nowMs);
  if (now === website) return website;
  const unknown = { latest: "unknown", result: "unknown" } as const;
  const before = (website.results ?? []).map(({ protocol, refutations, downsMs, isUnstable }) => {
    return { protocol, refutations, downsMs, isUnstable, ...unknown };
  });
  if (now.health.failure?.reason !== "not_scheduled") return { ...now, results: before };
  const results = before.map((each) => ({ ...each, isUnwatched: true as const }));
  // Nobody knows how long what was up then stayed so.
  return { ...now, results: results.length === 0 ? undefined : results, lastUp: [] };
}

/** Whether the tests of a website have no result because none was made yet, or because their schedule rests. */
export function isAwaited(results: WebsiteSnapshot["results"]): boolean {
  return results === undefined || (results.length > 0 && results.every((each) => each.isUnwatched));
}

/**
 * Returns the facts after one more test. Each status is compared with the last valid answer; protocols that a valid answer lacks are
 * forgotten, including their counters.
 */
export function afterWebsitePoll(
  website: WebsiteFacts,
  observation: Observation & { readonly kind: "website_test" },
  nowMs: number,
): WebsiteFacts {
  const { outcome } = observation;
  if (!outcome.ok) return afterTest(website, observation, nowMs, undefined);
  const { identity, websiteId, website: name, address, seen, known } = website;
  const statuses = exportedStatuses(outcome.value, known.protocols).map((now): StatusSnapshot => {
    const old = seen?.statuses.find(({ protocol }) => protocol === now.protocol);
    const isUp = statusSetHas(known.expectStatus, now.status);
    const isSame = old === undefined || old.status === now.status;
    return { isUp, changes: (old?.changes ?? 0) + (isSame ? 0 : 1), ...now };
  });
  const named = { identity, websiteId, website: name, address };
  const uncertain = uncertainStatuses(outcome.value, known.protocols);
  const now = kept(seen, { kind: "website_statuses", ...named, statuses, uncertain });
  return afterTest(website, observation, nowMs, now);
}

/** Adds the results of the latest test, by protocol; of every protocol that ever had a status, if none are configured. */
function afterTest(
  website: WebsiteFacts,
  observation: Observation,
  nowMs: number,
  seen: StatusesSnapshot | undefined,
): WebsiteFacts {
  const { known, results: before = [] } = website;
  const { statuses = [] } = seen ?? {};
  const protocols = known.protocols ?? new Set([...before, ...statuses].map(({ protocol }) => protocol));
  const results = Array.from(protocols, (protocol) => {
    const status = statuses.find((each) => each.protocol === protocol);
    const old = before.find((each) => each.protocol === protocol);
    const latest = status === undefined ? "unknown" : status.isUp ? "up" : "down";
    return resultAfter(old, { protocol, latest }, nowMs);
  });
  return {
    ...afterPoll(website, observation, nowMs, seen),
    results: kept(before, results),
    lastUp: lastUpAfter(website, statuses, nowMs, observation),
  };
}

function lastUpAfter(
  { lastUp: before, results }: Pick<WebsiteFacts, "lastUp" | "results">,
  statuses: readonly StatusSnapshot[],
  nowMs: number,
  { sentAtMs: sentMs = nowMs, sinceMs = Number.NEGATIVE_INFINITY }: Observation,
): WebsiteFacts["lastUp"] {
  const up = statuses.filter(({ isUp }) => isUp);
  const others = before.filter(({ protocol }) => !up.some((each) => each.protocol === protocol));
  return [
    ...up.map(({ protocol }) => {
      const { tests = [], sinceMs: earlierMs } = before.find((each) => each.protocol === protocol) ?? {};
      const latest = results?.find((each) => each.protocol === protocol)?.latest;
      return {
        protocol,
        tests: [...tests, { sentMs, endedMs: nowMs }].slice(-MAX_UP),
        sinceMs:
          latest === undefined ? Number.NEGATIVE_INFINITY : latest === "up" ? (earlierMs ?? nowMs) : nowMs,
        doubtedMs: sentMs + (sentMs - sinceMs),
      };
    }),
    ...others.map((each) => (each.doubtedMs > sentMs ? { ...each, doubtedMs: sentMs } : each)),
  ];
}

/** The backup may be tested some times, after the master was, until it is known that a website was lost in a failover. */
const MAX_UP = 8;

const TEN_BITS = 2 ** 10 - 1;
/** A website that was down this often within a quarter of an hour is unstable. */
const OFTEN = 3;
const OFTEN_WITHIN_MS = 15 * 60_000;
const NEVER: readonly number[] = [];

/**
 * Returns the result after one more test. The first test of all counts at once, and so does `up`. While `up` counts, two tests in a row
 * that are not `up` end it, and the later one counts. While another result counts, a different one counts once two tests in a row have it.
 * A test with the result `up` refutes the test before, if that result was `down` and did not count.
 */
export function resultAfter(
  before: ProtocolResult | undefined,
  { protocol, latest }: Pick<ProtocolResult, "protocol" | "latest">,
  nowMs: number,
): ProtocolResult {
  const isDoubted = before?.result === "up" && before.latest !== "up";
  const isConfirmed = before === undefined || isDoubted || latest === "up" || latest === before.latest;
  const isRefutation = isDoubted && before.latest === "down" && latest === "up";
  const refutations = (((before?.refutations ?? 0) << 1) | Number(isRefutation)) & TEN_BITS;
  const isMany = refutations.toString(2).replaceAll("0", "").length >= 3;
  const result = isConfirmed ? latest : before.result;
  const { downsMs: earlierMs = NEVER } = before ?? {};
  const goesDown = result === "down" && before !== undefined && before.result !== "down";
  const downsMs = goesDown ? [...earlierMs, nowMs].slice(-OFTEN) : earlierMs;
  const [firstMs = 0] = downsMs;
  const isOften = downsMs.length === OFTEN && nowMs - firstMs <= OFTEN_WITHIN_MS;
  const isUnstable = isMany || isOften || (refutations > 0 && before?.isUnstable === true);
  return kept(before, { protocol, latest, result, refutations, downsMs, isUnstable });
}
