import { isDeepStrictEqual } from "node:util";
import type { VrrpAnomaly, VrrpList } from "../api/vrrp-list.ts";
import type { Protocol } from "../api/website-test.ts";
import type { Failure } from "../client/failure.ts";
import type { Operation } from "../polling/observation.ts";
import type { StatusChange, Transition } from "./transitions.ts";

/** What an observation has changed. */
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
      /** Why there was no HTTP response, in the words of the appliance. */
      readonly text?: string;
    }
  /** An operation began to fail, or fails for another reason now. */
  | { readonly kind: "failing"; readonly operation: Operation; readonly failure: Failure }
  /** `from`: why it failed until now. */
  | { readonly kind: "recovered"; readonly operation: Operation; readonly from: Failure }
  /** The answer deviates from the specification in other places than the last good one did. */
  | ({ readonly kind: "anomalies" } & Anomalies);

/** Where an answer deviates from the specification. */
export interface Anomalies {
  readonly count: number;
  /** The first of them, at most 10. */
  readonly places: readonly VrrpAnomaly[];
}

const MAX_PLACES = 10;

export function anomaliesOf({ anomalies }: VrrpList): Anomalies {
  return { count: anomalies.length, places: anomalies.slice(0, MAX_PLACES) };
}

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

/** Anomalies are reported when they appear, change or go, not with every answer. */
export function anomalyChange(before: Anomalies, now: Anomalies): readonly FleetChange[] {
  return isDeepStrictEqual(before, now) ? [] : [{ kind: "anomalies", ...now }];
}

export function transitionChange({ reported, from }: Transition): FleetChange {
  const { name, vhid, vip, state: to } = reported;
  return { kind: "vrrp_state", interface: name, vhid, vip, from, to };
}

export function statusChange(websiteId: number, website: string, change: StatusChange): FleetChange {
  const { status: to, ...facts } = change;
  return { kind: "website_status", websiteId, website, ...facts, to };
}
