import type { ApplianceKind } from "./kind.ts";
import { VRRP_LIST } from "./vrrp-list.ts";
import { WEBSITE_DETAILS } from "./website-details.ts";
import { WEBSITE_LIST } from "./website-list.ts";
import { WEBSITE_TEST } from "./website-test.ts";

/** The management API, as docs/reference/management-api.md specifies it. */
export const MANAGEMENT_API = {
  operations: {
    vrrp: VRRP_LIST,
    website_list: WEBSITE_LIST,
    website_details: WEBSITE_DETAILS,
    website_test: WEBSITE_TEST,
  },
  port: 4849,
} as const satisfies ApplianceKind;
