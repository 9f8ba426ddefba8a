import type { Decoded } from "./decoded.ts";
import type { JsonLimits } from "./json-scan.ts";
import type { Redact } from "./kept-text.ts";

/** One GET operation of the management API, for both of its sides. */
export interface OperationDescriptor<Value, Written> {
  /** What it is about: the whole appliance, or one website, whose id it is given. */
  readonly scope: "appliance" | "website";
  /** Path below the base URL. */
  readonly path: (websiteId?: number) => string;
  readonly limits: OperationLimits;
  /** What an answer with status 200 holds. Every text that is kept passes through `redact`. Never throws. */
  readonly decode: (body: Uint8Array, redact: Redact) => Decoded<Value>;
  /** The body as the specification writes it. */
  readonly encode: (value: Written) => string;
  /** The block of `polling` that has its interval and timeout. */
  readonly timing: "vrrp" | "websites";
  /** Whether the appliance contacts a website for it: few of these are in flight at once. */
  readonly takesSlot: boolean;
}

/** Most that one answer may hold; more is `too_large`. */
export interface OperationLimits {
  /** Of the body. */
  readonly bytes: number;
  readonly json: JsonLimits;
}
