import { meaningOf } from "../api/failure.ts";
import type { ApplianceConfig } from "../config/config.ts";
import type { Observation } from "../polling/observation.ts";
import { firstExpiryMs } from "../polling/instants.ts";
import { kept } from "../../support/kept.ts";
import {
  afterPoll,
  neverPolled,
  operationAt,
  whileReachable,
  type DiscoveryFacts,
  type OperationFacts,
} from "./operation-facts.ts";
import type { VrrpFacts } from "./vrrp.ts";

/** Returns the facts under a configuration, without websites that the latest valid list lacks; `undefined` without discovery. */
export function discoveryFor(
  before: DiscoveryFacts | undefined,
  { discovery, polling }: ApplianceConfig,
  nowMs: number,
): DiscoveryFacts | undefined {
  if (discovery === undefined) return undefined;
  // Discovery begins when the first poll of the VRRP list has ended.
  const fresh = neverPolled(firstExpiryMs(polling.discovery, nowMs + polling.vrrp.timeoutMs));
  const { list, details, first }: DiscoveryFacts = before ?? {
    list: fresh,
    details: new Map(),
    first: undefined,
  };
  if (list.seen === undefined) return { list, details, first };
  const excluded = new Set(discovery.exclude);
  const watched = list.seen.ids.filter((id) => !excluded.has(id)).slice(0, discovery.limit);
  const known = new Map(watched.map((id) => [id, details.get(id) ?? fresh]));
  return { list, details: known, first: first ?? new Set(watched) };
}

/** Replaces the facts of each operation by the result of `change`; returns the same object if none changes. */
function withEach(
  facts: DiscoveryFacts,
  change: <Of extends OperationFacts<unknown>>(of: Of) => Of,
): DiscoveryFacts {
  const list = change(facts.list);
  const details = new Map(Array.from(facts.details, ([id, each]) => [id, change(each)] as const));
  const isAsBefore = [...details].every(([id, each]) => each === facts.details.get(id));
  return isAsBefore && list === facts.list ? facts : { ...facts, list, details };
}

/** Returns the facts at the monotonic instant `nowMs`. */
export function discoveryAt(facts: DiscoveryFacts, nowMs: number): DiscoveryFacts {
  return withEach(facts, (each) => operationAt(each, nowMs));
}

/** Returns the facts after a poll of the VRRP list. While the appliance is out of reach, its earlier answers do not count. */
export function discoveryAfterVrrp(facts: DiscoveryFacts, { failing, health }: VrrpFacts): DiscoveryFacts {
  const isDown = failing !== undefined && meaningOf(failing.reason).stopsOtherPolls === true;
  const downSinceMs = isDown ? health.failingSinceMs : undefined;
  return withEach(facts, (each) => whileReachable(each, downSinceMs));
}

/** Returns the facts after one more poll; a poll of a website that is gone changes nothing. */
export function afterDiscoveryPoll(
  facts: DiscoveryFacts,
  observation: Observation & { readonly kind: "website_list" | "website_details" },
  config: ApplianceConfig,
  nowMs: number,
): DiscoveryFacts | undefined {
  if (observation.kind === "website_list") {
    const seen = observation.outcome.ok ? observation.outcome.value : undefined;
    const list = afterPoll(facts.list, observation, nowMs, seen);
    return discoveryFor({ ...facts, list }, config, nowMs);
  }
  const { websiteId, outcome } = observation;
  const before = facts.details.get(websiteId);
  if (before === undefined) return facts;
  const seen = outcome.ok ? kept(before.seen, outcome.value) : undefined;
  const now = afterPoll(before, observation, nowMs, seen);
  return { ...facts, details: new Map(facts.details).set(websiteId, now) };
}
