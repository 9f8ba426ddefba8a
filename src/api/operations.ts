import type { OperationDescriptor } from "./operation.ts";
import { VRRP_LIST } from "./vrrp.ts";
import { WEBSITE_DETAILS } from "./website-details.ts";
import { WEBSITE_LIST } from "./website-list.ts";
import { WEBSITE_TEST } from "./website-test.ts";

export const OPERATION_KINDS = ["vrrp", "website_test", "website_list", "website_details"] as const;

/** The value of the label `operation`. */
export type OperationKind = (typeof OPERATION_KINDS)[number];

export const OPERATIONS = {
  vrrp: VRRP_LIST,
  website_test: WEBSITE_TEST,
  website_list: WEBSITE_LIST,
  website_details: WEBSITE_DETAILS,
} as const satisfies Readonly<
  Record<OperationKind, OperationDescriptor<never, never> | OperationDescriptor<unknown, never>>
>;
