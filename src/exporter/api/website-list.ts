import { kept, listOf } from "./anonymize.ts";
import type { Outcome } from "./failure.ts";
import { kindOf, parseJson, readText, rejected } from "./json.ts";
import type { ApiOperation } from "./operation.ts";

export interface WebsiteList {
  /** The ids, which are positive, ascending and unique. */
  readonly ids: readonly number[];
  /** The JSON paths of entries that are no ids: `$[3]`. */
  readonly invalid: readonly string[];
}

export const MAX_WEBSITES = 4096;
export const MAX_WEBSITE_ID = 9_999_999_999;
const ID = /^[1-9]\d{0,9}$/;

/** The list of websites. Older firmware lacks it. @see management API 4.3 */
export const WEBSITE_LIST = {
  path: () => "/api/v1/website",
  limitBytes: 64 * 1024,
  decode: decodeWebsiteList,
  anonymize: listOf(kept(idOf)),
  statuses: { 404: "unsupported", 405: "unsupported", 501: "unsupported" },
} as const satisfies ApiOperation<WebsiteList>;

/**
 * Decodes a list of websites: an array of ids, strings or numbers. Anything else is `decode` and never an empty list; more
 * than 4,096 entries are `too_large`. Entries that are no ids are dropped and reported; repeated ids count once.
 * @see management API 4.3
 */
export function decodeWebsiteList(body: Uint8Array): Outcome<WebsiteList> {
  const parsed = parseJson(body);
  if (!parsed.ok) return parsed;
  const { value } = parsed.value;
  if (!Array.isArray(value)) return rejected("decode", `expected an array of ids, got ${kindOf(value)}`);
  if (value.length > MAX_WEBSITES) return rejected("too_large", `expected at most ${MAX_WEBSITES} ids`);
  const ids = value.map(idOf);
  const valid = new Set(ids.flatMap((id) => id ?? []));
  const invalid = ids.flatMap((id, index) => (id === undefined ? [`$[${index}]`] : []));
  return { ok: true, value: { ids: [...valid].toSorted((a, b) => a - b), invalid } };
}

function idOf(entry: unknown): number | undefined {
  const text = readText(entry).trim();
  return ID.test(text) ? Number(text) : undefined;
}
