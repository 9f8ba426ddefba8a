import type { Decoded } from "./json.ts";
import type { Redact } from "./text.ts";

/** One GET operation of the management API, for client and server. */
export interface OperationDescriptor<Value, Written> {
  readonly scope: "appliance" | "website";
  /** Path below the base URL. */
  readonly path: (websiteId?: number) => string;
  /** Size of the body of an answer; more is `too_large`. */
  readonly limitBytes: number;
  /** Decodes the body of an answer with status 200. Every text that is kept passes through `redact`. Never throws. */
  readonly decode: (body: Uint8Array, redact: Redact) => Decoded<Value>;
  readonly encode: (value: Written) => string;
  /** The block of `polling` with its interval and timeout. */
  readonly timing: TimingName;
  /** The slots that limit how many polls of it are in flight; `false`: no limit. */
  readonly takesSlot: false | SlotKind;
  /** What these status codes mean. Any other, except 200, only says that the poll failed. */
  readonly statuses: Readonly<Record<number, StatusMeaning>>;
}

/** The appliance lacks the operation, or the website is gone. `gone` of an operation for appliances: no API is at this address. */
export type StatusMeaning = "unsupported" | "gone";

/** Website tests, for which appliances contact websites; or polls that find websites, one at a time of each appliance. */
export type SlotKind = "website_tests" | "discovery";

/** The blocks of `polling`, and their built-in values. */
export const TIMINGS = {
  vrrp: { intervalMs: 5_000, timeoutMs: 4_000 },
  websites: { intervalMs: 30_000, timeoutMs: 20_000 },
  discovery: { intervalMs: 300_000, timeoutMs: 20_000 },
} as const;

export type TimingName = keyof typeof TIMINGS;

/** A value for each block of `polling`. */
export function byTiming<T>(make: (name: TimingName) => T): Readonly<Record<TimingName, T>> {
  return { vrrp: make("vrrp"), websites: make("websites"), discovery: make("discovery") };
}
