import type { Anonymize } from "./anonymize.ts";
import type { Outcome } from "./failure.ts";
import type { Redact } from "./text.ts";

/** The facts that all operations of a kind share, a GET of the management API; for client and server. */
export interface ApiOperation<Value, Written> {
  /** Returns the path below the base URL. */
  readonly path: (websiteId?: number) => string;
  /** The largest size of an answer's body; a larger one is `too_large`. */
  readonly limitBytes: number;
  /** Decodes the body of an answer with status 200. Every text that is kept passes through `redact`. Never throws. */
  readonly decode: (body: Uint8Array, redact: Redact) => Outcome<Value>;
  readonly encode: (value: Written) => string;
  /** Anonymizes the parsed body of an answer with status 200. */
  readonly anonymize: Anonymize;
  /** The block of `polling` with its interval and timeout. */
  readonly timing: TimingName;
  /**
   * The limits that count the operation's polls in flight. A poll takes a slot of each, in this order: the appliance's own limit comes
   * first.
   */
  readonly limits: readonly LimitName[];
  /** The operations of a group back off together after a refusal or Retry-After. Without a group, an operation backs off alone. */
  readonly backoffGroup?: "discovery";
  /** The meanings of status codes. Any other code, except 200, only says that the poll failed. @see management API 6 */
  readonly statuses: Readonly<Record<number, StatusMeaning>>;
}

/**
 * The appliance lacks the operation, or the website is gone. For an operation on appliances, `gone` means that no API is at this address.
 */
export type StatusMeaning = "unsupported" | "gone";

/** The limits of the fleet, and of each appliance. */
export type LimitName = "website_tests" | "discovery" | "appliance_website_tests" | "appliance_details";

/** The blocks of `polling`, and their built-in values. */
export const TIMINGS = {
  vrrp: { intervalMs: 5_000, timeoutMs: 4_000 },
  websites: { intervalMs: 30_000, timeoutMs: 20_000 },
  discovery: { intervalMs: 300_000, timeoutMs: 20_000 },
} as const;

export type TimingName = keyof typeof TIMINGS;

/** Returns a value for each block of `polling`. */
export function byTiming<T>(make: (name: TimingName) => T): Readonly<Record<TimingName, T>> {
  return { vrrp: make("vrrp"), websites: make("websites"), discovery: make("discovery") };
}
