import type { z } from "zod";

/** What of a block can be relied on. */
export interface Fitting<T> {
  /** Its settings less those that do not fit; `undefined` where nothing can be made of it. */
  readonly settings: T | undefined;
  /** The settings that stand there and do not fit, which the validation of the whole file reports. */
  readonly unfit: ReadonlySet<string>;
}

/** Reads a block of a file so that a setting that does not fit hides nothing of the others. */
export function readFitting<T>(schema: z.ZodType<T>, block: unknown): Fitting<T> {
  const parsed = schema.safeParse(block);
  if (parsed.success) return { settings: parsed.data, unfit: new Set() };
  const unfit = new Set(parsed.error.issues.flatMap(keysOf));
  const rest = Object.entries({ ...Object(block) }).filter(([key]) => !unfit.has(key));
  return { settings: unfit.size > 0 ? schema.safeParse(Object.fromEntries(rest)).data : undefined, unfit };
}

/** The keys of the block that an issue is about. */
function keysOf(issue: z.core.$ZodIssue): readonly string[] {
  const [key] = issue.path;
  if (key !== undefined) return [String(key)];
  return issue.code === "unrecognized_keys" ? issue.keys : [];
}
