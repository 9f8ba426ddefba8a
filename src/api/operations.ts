import type { OperationDescriptor } from "./operation.ts";
import { VRRP_LIST } from "./vrrp.ts";
import { WEBSITE_TEST } from "./website-test.ts";

/** All operations by kind; the kind is the value of the label `operation`. */
export const OPERATIONS = {
  vrrp: VRRP_LIST,
  website_test: WEBSITE_TEST,
} as const satisfies Readonly<
  Record<string, OperationDescriptor<never, never> | OperationDescriptor<unknown, never>>
>;

export type OperationKind = keyof typeof OPERATIONS;

export const OPERATION_KINDS: readonly OperationKind[] = ["vrrp", "website_test"];
