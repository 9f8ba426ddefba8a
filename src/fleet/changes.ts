import type { Protocol } from "../api/website-test.ts";
import type { Failure } from "../client/failure.ts";
import type { Operation } from "../api/operations.ts";

/** Holds what an observation has changed. */
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
      /** Why there was no HTTP response, in the words of the appliance. */
      readonly text?: string;
    }
  /** An operation began to fail, or fails for another reason now. */
  | { readonly kind: "failing"; readonly operation: Operation; readonly failure: Failure }
  /** `from`: why it failed until now. */
  | { readonly kind: "recovered"; readonly operation: Operation; readonly from: Failure }
  /** The list of an appliance has other websites. */
  | { readonly kind: "website_list_changed" }
  /**
   * The appliance describes a website in another way, or for the first time one that its first list lacked. `address`: host and
   * port until now; empty while they were not known.
   */
  | { readonly kind: "website_changed"; readonly websiteId: number; readonly address: string };

/** Holds what is known after one more poll, and what that poll has changed. */
export interface Step<State> {
  readonly state: State;
  readonly changes: readonly FleetChange[];
}
