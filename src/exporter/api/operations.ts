import type { ApiOperation } from "./operation.ts";
import { VRRP_LIST } from "./vrrp.ts";
import { WEBSITE_DETAILS } from "./website-details.ts";
import { WEBSITE_LIST } from "./website-list.ts";
import { WEBSITE_TEST } from "./website-test.ts";

/** The values of the label `operation`, in the order in which an appliance is polled for the first time. */
export const OPERATION_KINDS = ["vrrp", "website_list", "website_details", "website_test"] as const;

export type OperationKind = (typeof OPERATION_KINDS)[number];

export const OPERATIONS = {
  vrrp: VRRP_LIST,
  website_list: WEBSITE_LIST,
  website_details: WEBSITE_DETAILS,
  website_test: WEBSITE_TEST,
} as const satisfies {
  readonly [K in OperationKind]: ApiOperation<never, never> | ApiOperation<unknown, never>;
};

/** The subject of one poll: an appliance, or one of its websites. */
export type Operation =
  | { readonly kind: "vrrp" }
  | { readonly kind: "website_list" }
  | { readonly kind: "website_details"; readonly websiteId: number }
  | { readonly kind: "website_test"; readonly websiteId: number };

/** Returns a key that is unique among the operations of one appliance. */
export function operationKey(operation: Operation): string {
  return "websiteId" in operation ? `${operation.kind}/${operation.websiteId}` : operation.kind;
}
