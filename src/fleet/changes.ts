import { isDeepStrictEqual } from "node:util";
import type { VrrpAnomaly } from "../api/vrrp-list.ts";
import type { Protocol } from "../api/website-test.ts";
import type { Failure } from "../polling/failure.ts";
import type { Operation } from "../polling/observation.ts";
import type { StatusChange, Transition } from "./transitions.ts";

/** What an observation has changed, for those who tell people. */
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
      readonly wasUp: boolean;
      readonly isUp: boolean;
    }
  /** An operation began to fail, or fails for another reason now. */
  | { readonly kind: "failing"; readonly operation: Operation; readonly failure: Failure }
  /** `from`: why it failed until now. */
  | { readonly kind: "recovered"; readonly operation: Operation; readonly from: Failure }
  /** The answer deviates from the specification in other places than the last good one did; empty: no longer. */
  | { readonly kind: "anomalies"; readonly anomalies: readonly VrrpAnomaly[] };

/** What a poll's outcome changes for an operation that failed with `before`, or did not, until now. */
export function healthChange(
  operation: Operation,
  before: Failure | undefined,
  now: Failure | undefined,
): readonly FleetChange[] {
  if (now !== undefined)
    return now.reason === before?.reason ? [] : [{ kind: "failing", operation, failure: now }];
  return before === undefined ? [] : [{ kind: "recovered", operation, from: before }];
}

/** Anomalies are told when they appear, change or go, not with every answer. */
export function anomalyChange(
  before: readonly VrrpAnomaly[],
  now: readonly VrrpAnomaly[],
): readonly FleetChange[] {
  return isDeepStrictEqual(before, now) ? [] : [{ kind: "anomalies", anomalies: now }];
}

export function transitionChange({ reported, from }: Transition): FleetChange {
  const { name, vhid, vip, state: to } = reported;
  return { kind: "vrrp_state", interface: name, vhid, vip, from, to };
}

export function statusChange(websiteId: number, website: string, change: StatusChange): FleetChange {
  const { status: to, ...facts } = change;
  return { kind: "website_status", websiteId, website, ...facts, to };
}
