import type { Failure } from "../api/failure.ts";
import type { Operation } from "../api/operation.ts";
import type { Protocol } from "../api/website-test.ts";
import { isEqual } from "../../support/kept.ts";
import { factsOf, type ApplianceFacts } from "./appliance-facts.ts";
import { addressOf } from "./known-websites.ts";
import type { StatusesSnapshot } from "./snapshot.ts";
import { interfacesByKey, seriesKey, type SeenVrrp } from "./vrrp.ts";

/** A change that an observation has made. */
export type FleetChange =
  | {
      readonly kind: "vrrp_state";
      readonly interface: string;
      readonly vhid: number;
      readonly vip: string;
      readonly from: string;
      readonly to: string;
    }
  | {
      readonly kind: "website_status";
      readonly websiteId: number;
      readonly website: string;
      readonly protocol: Protocol;
      readonly from: number;
      readonly to: number;
      /** The appliance's text that says why there was no HTTP response. */
      readonly text?: string;
    }
  /** An operation began to fail, or now fails for another reason. */
  | { readonly kind: "failing"; readonly operation: Operation; readonly failure: Failure }
  /** An operation recovered; `from` is the reason of its failure until now. */
  | { readonly kind: "recovered"; readonly operation: Operation; readonly from: Failure }
  /** The list of an appliance has other websites. */
  | { readonly kind: "website_list_changed" }
  /**
   * The appliance describes a website in another way, or describes for the first time one that its first list lacked. `address` has host
   * and port until now; it is empty while they were not known.
   */
  | { readonly kind: "website_changed"; readonly websiteId: number; readonly address: string };

type Changes = readonly FleetChange[];

/** Returns the changes that a poll of an operation has made to an appliance. Most polls find nothing new. */
export function changesBetween(before: ApplianceFacts, now: ApplianceFacts, operation: Operation): Changes {
  const [from, to] = [factsOf(before, operation), factsOf(now, operation)];
  const health = healthChange(operation, from?.failing, to?.failing);
  return from?.seen === to?.seen ? health : [...health, ...valueChanges(before, now, operation)];
}

/** Polls that were not sent are no changes, nor are websites that are gone, which are no longer listed. */
function healthChange(operation: Operation, ...failures: readonly (Failure | undefined)[]): Changes {
  const isOfDetails = operation.kind === "website_details";
  const [from, failure] = failures.map((each) => (isOfDetails && each?.isGone ? undefined : each));
  if (failure?.reason === from?.reason) return [];
  if (failure !== undefined) return [{ kind: "failing", operation, failure }];
  return from === undefined ? [] : [{ kind: "recovered", operation, from }];
}

function valueChanges(before: ApplianceFacts, now: ApplianceFacts, operation: Operation): Changes {
  if (operation.kind === "vrrp") return stateChanges(before.vrrp.seen, now.vrrp.seen);
  const { list, details, first } = before.discoveryFacts ?? {};
  if (operation.kind === "website_list") {
    const isSame = list?.seen === undefined || isEqual(list.seen.ids, now.discoveryFacts?.list.seen?.ids);
    return isSame ? [] : [{ kind: "website_list_changed" }];
  }
  const { websiteId } = operation;
  if (operation.kind === "website_test") {
    const at = now.websites.findIndex((website) => website.websiteId === websiteId);
    return statusChanges(before.websites[at]?.seen, now.websites[at]?.seen);
  }
  const seen = details?.get(websiteId)?.seen;
  if (seen === undefined && first?.has(websiteId) === true) return [];
  return [{ kind: "website_changed", websiteId, address: seen === undefined ? "" : addressOf(seen) }];
}

function stateChanges(before?: SeenVrrp, now?: SeenVrrp): Changes {
  if (before === undefined || now === undefined || before.list === now.list) return [];
  const known = interfacesByKey(before);
  return now.list.interfaces.flatMap(({ reported }): Changes => {
    const { name, vhid, vip, state: to } = reported;
    const from = known.get(seriesKey(reported))?.reported.state ?? to;
    return from === to ? [] : [{ kind: "vrrp_state", interface: name, vhid, vip, from, to }];
  });
}

function statusChanges(before?: StatusesSnapshot, now?: StatusesSnapshot): Changes {
  const { websiteId = 0, website = "", statuses = [] } = now ?? {};
  return statuses.flatMap(({ protocol, status: to, text }): Changes => {
    const from = before?.statuses.find((each) => each.protocol === protocol)?.status ?? to;
    const why = text === undefined ? {} : { text };
    return from === to ? [] : [{ kind: "website_status", websiteId, website, protocol, from, to, ...why }];
  });
}
