import { z } from "zod";
import { MAX_ERRORS } from "../errors.ts";

/** Settings of a list or a map. */
interface Collection {
  readonly min?: number;
  /** A longer list is refused as a whole; default: no limit. */
  readonly max?: number;
  readonly description?: string;
}

/**
 * A list whose errors are bounded: the first hundred issues, and one that counts the rest. zod hands the issues of a
 * list to the schema around it as the arguments of one call, and too many of them overflow the stack.
 */
export function listOf<T extends z.ZodType>(
  element: T,
  { min, max, ...meta }: Collection = {},
): z.ZodArray<T> {
  const list = z.array(element);
  const atLeast = min === undefined ? list : list.min(min);
  const atMost = max === undefined ? atLeast : atLeast.max(max);
  return withBoundedIssues(describe(atMost, meta));
}

/** A map of any keys, of at most `max` entries; its errors are bounded likewise. */
export function mapOf<K extends z.core.$ZodRecordKey, V extends z.ZodType>(
  key: K,
  value: V,
  { max = Infinity, ...meta }: Omit<Collection, "min"> = {},
): z.ZodRecord<K, V> {
  const map = z.record(key, value).refine((entries) => Object.keys(entries).length <= max, {
    error: `expected at most ${max} entries`,
  });
  return withBoundedIssues(describe(map, meta));
}

function describe<T extends z.ZodType>(schema: T, meta: Pick<Collection, "description">): T {
  return meta.description === undefined ? schema : schema.meta(meta);
}

/** The same schema, changed: whatever makes another one of it later on, `meta` or `refine` say, loses the bound. */
export function withBoundedIssues<T extends z.ZodType>(schema: T): T {
  const { _zod: internals } = schema;
  const { run } = internals;
  internals.run = (payload, context) => {
    const result = run(payload, context);
    return result instanceof Promise ? result.then(boundIssues) : boundIssues(result);
  };
  return schema;
}

function boundIssues(payload: z.core.ParsePayload): z.core.ParsePayload {
  const { issues } = payload;
  if (issues.length <= MAX_ERRORS + 1) return payload;
  const hidden = issues.splice(MAX_ERRORS).reduce((sum, issue) => sum + errorsIn(issue), 0);
  const input = payload.value;
  issues.push({ code: "custom", input, message: "more errors", params: { hidden }, continue: false });
  return payload;
}

function errorsIn(issue: z.core.$ZodRawIssue): number {
  return issue.code === "unrecognized_keys" ? issue.keys.length : hiddenIssues(issue) || 1;
}

/** How many issues of a list or a map this one stands for; 0 for an issue of its own. */
export function hiddenIssues(issue: z.core.$ZodRawIssue | z.core.$ZodIssue): number {
  const params: unknown = issue.code === "custom" ? issue["params"] : undefined;
  if (typeof params !== "object" || params === null || !("hidden" in params)) return 0;
  return Number(params.hidden);
}
