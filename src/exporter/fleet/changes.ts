import type { Protocol } from "../api/website-test.ts";
import type { Failure } from "../api/failure.ts";
import type { Operation } from "../api/operations.ts";

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

/** The state after one more poll, and the changes of that poll. */
export interface Changed<State> {
  readonly state: State;
  readonly changes: readonly FleetChange[];
}
