import type { JsonLimits } from "./json-scan.ts";

/** Most that one answer of an operation may hold; more is `too_large`. */
export interface OperationLimits {
  /** Of the body. */
  readonly bytes: number;
  readonly json: JsonLimits;
}

/** The list of VRRP interfaces: its path below the base URL, and its limits. @see management API 4.1 */
export const VRRP_LIST = {
  path: "/api/v1/interface/virtual",
  limits: { bytes: 256 * 1024, json: { depth: 8, entries: 1024, members: 64 } },
} as const satisfies { readonly path: string; readonly limits: OperationLimits };

/** The connectivity test of one website: its path below the base URL, and its limits. @see management API 4.2 */
export const WEBSITE_TEST = {
  path: (id: number): string => `/api/v1/website/${id}/test`,
  limits: { bytes: 64 * 1024, json: { depth: 8, entries: 64, members: 64 } },
} as const satisfies { readonly path: (id: number) => string; readonly limits: OperationLimits };
