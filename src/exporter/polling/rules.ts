import type { OperationKind } from "../api/operation.ts";
import type { TimingName } from "../config/timings.ts";

/** The limits of the fleet, and of each appliance. */
export type LimitName = "website_tests" | "discovery" | "appliance_website_tests" | "appliance_details";

/** How the operations of a kind are polled, whichever API has them. */
interface PollRules {
  /** The block of `polling` with its interval and timeout. */
  readonly timing: TimingName;
  /**
   * The limits that count the operation's polls in flight. A poll takes a slot of each, in this order: the appliance's own limit comes
   * first.
   */
  readonly limits: readonly LimitName[];
  /** The operations of a group back off together after a refusal or Retry-After. Without a group, an operation backs off alone. */
  readonly backoffGroup?: "discovery";
}

export const POLL_RULES: Readonly<Record<OperationKind, PollRules>> = {
  vrrp: { timing: "vrrp", limits: [] },
  // The list says which details are of use, so it does not wait for the details of the same appliance.
  website_list: { timing: "discovery", limits: ["discovery"], backoffGroup: "discovery" },
  website_details: {
    timing: "discovery",
    limits: ["appliance_details", "discovery"],
    backoffGroup: "discovery",
  },
  website_test: { timing: "websites", limits: ["appliance_website_tests", "website_tests"] },
};
