import type { OperationDescriptor } from "./operation.ts";
import { VRRP_LIST } from "./vrrp.ts";
import { WEBSITE_DETAILS } from "./website-details.ts";
import { WEBSITE_LIST } from "./website-list.ts";
import { WEBSITE_TEST } from "./website-test.ts";

/** All operations by kind; the kind is the value of the label `operation`. */
export const OPERATIONS = {
  vrrp: VRRP_LIST,
  website_test: WEBSITE_TEST,
  website_list: WEBSITE_LIST,
  website_details: WEBSITE_DETAILS,
} as const satisfies Readonly<
  Record<string, OperationDescriptor<never, never> | OperationDescriptor<unknown, never>>
>;

export type OperationKind = keyof typeof OPERATIONS;

export const OPERATION_KINDS: readonly OperationKind[] = [
  "vrrp",
  "website_test",
  "website_list",
  "website_details",
];
