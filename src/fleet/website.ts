import { isDeepStrictEqual } from "node:util";
import { exportedStatuses, type Protocol } from "../api/website-test.ts";
import { statusSetHas } from "../config/status-set.ts";
import type { Observation } from "../polling/observation.ts";
import type { FleetChange } from "./changes.ts";
import type { KnownWebsite } from "./known-websites.ts";
import {
  afterFailure,
  afterSuccess,
  healthAt,
  isStalled,
  whileKnown,
  type OperationRecord,
  type RecordStep,
} from "./record.ts";
import { kept, keptMap } from "../support/kept.ts";
import { createMemo } from "../support/once.ts";
import type { Identity, StatusesSnapshot, StatusSnapshot, TestResult, WebsiteSnapshot } from "./snapshot.ts";

/** What is expected may change at a reload. */
type SeenStatus = Omit<StatusSnapshot, "isUp">;

interface SeenWebsite {
  readonly statuses: readonly SeenStatus[];
  /** Every protocol that ever had a status. */
  readonly protocols: readonly Protocol[];
}

export interface WebsiteRecord extends OperationRecord<SeenWebsite> {
  /** What the tests found, by protocol. */
  readonly results: ReadonlyMap<Protocol, Results>;
}

/** What the latest tests of a website found; the same object while they find the same. */
export interface Results {
  readonly latest: TestResult;
  /** The result that counts: `up` at once, any other once two tests in a row are not `up`. */
  readonly confirmed: TestResult;
}

/**
 * The record after one more test. Each status is compared with the last valid answer; protocols that a valid answer lacks are
 * forgotten, counters too.
 */
export function afterWebsitePoll(
  record: WebsiteRecord,
  observation: Observation & { readonly kind: "website_test" },
  { id: websiteId, name: website, protocols: configured, expectStatus }: KnownWebsite,
  nowMs: number,
): RecordStep<WebsiteRecord> {
  const { outcome } = observation;
  const { seen, results } = record;
  if (!outcome.ok) {
    const failed = afterFailure(record, observation, outcome.failure, nowMs);
    const unknown = resultsAfter(results, configured ?? seen?.protocols ?? [], () => "unknown");
    return { record: { ...failed, results: unknown }, changes: [] };
  }
  const changes: FleetChange[] = [];
  const found = exportedStatuses(outcome.value, configured).map((now): SeenStatus => {
    const known = seen?.statuses.find(({ protocol }) => protocol === now.protocol);
    const { status: to, ...facts } = now;
    if (known === undefined || known.status === to) return { ...now, changes: known?.changes ?? 0 };
    changes.push({ kind: "website_status", websiteId, website, ...facts, from: known.status, to });
    return { ...now, changes: known.changes + 1 };
  });
  const statuses = seen !== undefined && isDeepStrictEqual(found, seen.statuses) ? seen.statuses : found;
  const protocols = [...new Set([...(seen?.protocols ?? []), ...statuses.map(({ protocol }) => protocol)])];
  const resultOf = (wanted: Protocol): TestResult => {
    const known = statuses.find(({ protocol }) => protocol === wanted);
    if (known === undefined) return "unknown";
    return statusSetHas(expectStatus, known.status) ? "up" : "down";
  };
  const after = resultsAfter(results, configured ?? protocols, resultOf);
  return { record: { ...afterSuccess(observation, { statuses, protocols }), results: after }, changes };
}

function resultsAfter(
  before: WebsiteRecord["results"],
  protocols: readonly Protocol[],
  resultOf: (protocol: Protocol) => TestResult,
): WebsiteRecord["results"] {
  const now = protocols.map(
    (protocol) => [protocol, confirmedAfter(before.get(protocol), resultOf(protocol))] as const,
  );
  return keptMap(before, new Map(now));
}

/**
 * The results after one more test. The first test of all counts at once, and so does `up`; another result once the one before
 * was the same, or was not `up` either while `up` still counts (down, then unknown).
 */
export function confirmedAfter(before: Results | undefined, latest: TestResult): Results {
  const isConfirmed =
    before === undefined ||
    latest === "up" ||
    latest === before.latest ||
    (before.latest !== "up" && before.confirmed === "up");
  return kept(before, { latest, confirmed: isConfirmed ? latest : before.confirmed });
}

const onceWebsite = createMemo<WebsiteSnapshot>();
const onceStatuses = createMemo<StatusesSnapshot>();

/** What is true of a website, as seen from one appliance, at the monotonic instant `nowMs`. */
export function websiteSection(
  identity: Identity,
  website: KnownWebsite,
  record: WebsiteRecord,
  nowMs: number,
): WebsiteSnapshot {
  const { id, name, address, bind, urls } = website;
  const isLate = isStalled(record, nowMs);
  return onceWebsite(website, [identity, record, isLate], () => {
    const health = healthAt(record, nowMs);
    const seen = whileKnown(health, record.seen);
    const found = seen && statusesSection(identity, website, seen);
    const results = [...record.results];
    return {
      kind: "website_test",
      identity,
      websiteId: id,
      website: name,
      address,
      bind,
      urls,
      health,
      found,
      results: results.map(([protocol, { confirmed }]) => {
        return { protocol, result: isLate ? "unknown" : confirmed };
      }),
      isUnconfirmed: results.some(([, { latest, confirmed }]) => latest !== confirmed),
    };
  });
}

function statusesSection(
  identity: Identity,
  website: KnownWebsite,
  { statuses, protocols: all }: SeenWebsite,
): StatusesSnapshot {
  const { id: websiteId, name, protocols = all, expectStatus } = website;
  return onceStatuses(statuses, [identity, website], () => {
    const wanted = statuses
      .filter(({ protocol }) => protocols.includes(protocol))
      .map((each) => ({ ...each, isUp: statusSetHas(expectStatus, each.status) }));
    return { kind: "website_statuses", identity, websiteId, website: name, statuses: wanted };
  });
}
