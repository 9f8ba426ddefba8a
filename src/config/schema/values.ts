import { z } from "zod";
import { formatDuration, parseDuration } from "./duration.ts";
import { checkScheduleExpression } from "./schedule-expression.ts";
import { mapOf } from "../yaml/collections.ts";
import { expected, expectedText, show } from "../yaml/wording.ts";
import type { Setting } from "./url-setting.ts";

const MAX_NAME_BYTES = 128;
/** Every series of the appliance carries them. */
const MAX_LABELS = 64;
const MAX_LABEL_VALUE_BYTES = 1_024;

/** What the metrics carry themselves. */
const OUR_LABELS: ReadonlySet<string> = new Set(
  (
    "appliance ha_cluster interface vhid vip device netmask peer configured_role state " +
    "website_id website protocol operation reason anomaly"
  ).split(" "),
);

/** What belongs to scrapers and operators, and what Prometheus keeps for histograms and summaries. */
const RESERVED_LABELS: ReadonlySet<string> = new Set(
  "endpoint cluster instance job pod service namespace container node le quantile".split(" "),
);

/** A text in its final form; `parse` words what is wrong, and decides whether the text may be shown. */
export function parsed<T>(base: z.ZodString, parse: (text: string) => Setting<T>): z.ZodType<T, string> {
  return base.transform((text, context) => {
    const setting = parse(text);
    if (setting.ok) return setting.value;
    context.addIssue({ code: "custom", message: setting.message });
    return z.NEVER;
  });
}

/** A duration in milliseconds, `minMs` to `maxMs`. */
export function durationSchema(minMs: number, maxMs: number): z.ZodType<number, string> {
  const what = "a duration such as 500ms, 15s or 1m30s";
  return parsed(z.string({ error: expected(what) }), (text) => {
    const ms = parseDuration(text);
    if (ms === undefined) return { ok: false, message: `expected ${what}, got ${show(text)}` };
    if (ms >= minMs && ms <= maxMs) return { ok: true, value: ms };
    const range = `${formatDuration(minMs)} to ${formatDuration(maxMs)}`;
    return { ok: false, message: `expected a duration of ${range}, got ${show(text)}` };
  });
}

export const scheduleSchema: z.ZodType<string, string> = parsed(
  z.string({ error: expected('a node-cron expression, seconds first, such as "*/10 * * * * *"') }),
  (text) => {
    const message = checkScheduleExpression(text);
    return message === undefined ? { ok: true, value: text } : { ok: false, message };
  },
);

/** A name of ours: 1 to 128 bytes of well-formed text without control characters. */
export const nameSchema: z.ZodType<string, string> = parsed(
  z.string({ error: expectedText("a name") }),
  (text) => {
    if (text === "") return { ok: false, message: "expected a name that is not empty" };
    if (Buffer.byteLength(text) > MAX_NAME_BYTES) {
      return { ok: false, message: `expected a name of at most ${MAX_NAME_BYTES} bytes` };
    }
    if (/[\p{Cc}\p{Surrogate}]/u.test(text)) {
      return {
        ok: false,
        message: `expected a name of well-formed text without control characters, got ${show(text)}`,
      };
    }
    return { ok: true, value: text };
  },
);

const labelNameSchema: z.ZodType<string, string> = parsed(z.string(), (name) => {
  if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name)) {
    return { ok: false, message: "expected a label name of letters, digits and _ that starts with no digit" };
  }
  if (name.startsWith("__"))
    return { ok: false, message: "label names that start with __ belong to Prometheus" };
  if (OUR_LABELS.has(name)) return { ok: false, message: "the exporter sets this label itself" };
  if (RESERVED_LABELS.has(name)) return { ok: false, message: "this label name is reserved" };
  return { ok: true, value: name };
});

const labelValueSchema: z.ZodType<string, string> = parsed(
  z.string({ error: expectedText("a text") }),
  (text) => {
    if (Buffer.byteLength(text) > MAX_LABEL_VALUE_BYTES) {
      return { ok: false, message: `expected a text of at most ${MAX_LABEL_VALUE_BYTES} bytes` };
    }
    return /\p{Surrogate}/u.test(text)
      ? { ok: false, message: `expected well-formed Unicode, got ${show(text)}` }
      : { ok: true, value: text };
  },
);

export const labelsSchema = mapOf(labelNameSchema, labelValueSchema, {
  max: MAX_LABELS,
  description: "Labels on every series; a cluster's and an appliance's are merged, inner ones win.",
});

/** Lets a check of a map run beside errors within it, so that all are reported at once. */
export function isMap({ value }: { readonly value: unknown }): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
