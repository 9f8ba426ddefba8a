import type { Anonymize } from "./anonymize.ts";
import type { Outcome } from "./failure.ts";
import type { Redact } from "./text.ts";
import type { VrrpList } from "./vrrp.ts";
import type { WebsiteDetails } from "./website-details.ts";
import type { WebsiteList } from "./website-list.ts";
import type { WebsiteTest } from "./website-test.ts";

/** The vendor's half of an operation: a GET of its API, and what the answers mean. When it is polled is decided in `polling`. */
export interface ApiOperation<Value> {
  /** Returns the path below the base URL. */
  readonly path: (websiteId?: number) => string;
  /** The largest size of an answer's body; a larger one is `too_large`. */
  readonly limitBytes: number;
  /** Decodes the body of an answer with status 200. Every text that is kept passes through `redact`. Never throws. */
  readonly decode: (body: Uint8Array, redact: Redact) => Outcome<Value>;
  /** Anonymizes the parsed body of an answer with status 200. */
  readonly anonymize: Anonymize;
  /** The meanings of status codes. Any other code, except 200, only says that the poll failed. @see management API 6 */
  readonly statuses: Readonly<Record<number, StatusMeaning>>;
}

/**
 * The appliance lacks the operation, or the website is gone. For an operation on appliances, `gone` means that no API is at this address.
 */
export type StatusMeaning = "unsupported" | "gone";

/** The values of the label `operation`, in the order in which an appliance is polled for the first time. */
export const OPERATION_KINDS = ["vrrp", "website_list", "website_details", "website_test"] as const;

export type OperationKind = (typeof OPERATION_KINDS)[number];

/** What the answers of each operation are decoded to, whichever API has them. */
export interface OperationValues extends Record<OperationKind, unknown> {
  readonly vrrp: VrrpList;
  readonly website_list: WebsiteList;
  readonly website_details: WebsiteDetails;
  readonly website_test: WebsiteTest;
}

export type AnyApiOperation = ApiOperation<OperationValues[OperationKind]>;

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
