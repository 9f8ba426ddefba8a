import { rowLine } from "../../../src/exporter/page/view/clusters.ts";
import { readFilter } from "../../../src/exporter/page/view/filter.ts";
import type { Html } from "../../../src/exporter/page/view/html.ts";
import type { Reader } from "../../../src/exporter/page/view/parts.ts";
import type { Row } from "../../../src/exporter/view/row.ts";
import { NOW_MS } from "./documents.ts";

/** A reader who opened nothing. */
export const READER: Reader = { nowMs: NOW_MS, opened: new Set(), closed: new Set() };

/** Nothing is filtered. */
export const NO_FILTER = readFilter(new URLSearchParams());

/** Nothing is known of the past. */
export const NO_STRIPS = { name: "day", nowMs: NOW_MS, strip: () => undefined, damages: () => [] } as const;

/** The text of markup, each run of white space as one space. */
export function textOf({ text }: Html): string {
  return text
    .replace(/<[^>]*>/g, "")
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replace(/\s+/g, " ")
    .trim();
}

/** A row of a table: its subject, then each cell as `level: text`, or as its text if it has no level. */
export function cellsOf(row: Row): readonly string[] {
  return [...rowLine(row, READER).text.matchAll(/<(th|td)([^>]*)>(.*?)<\/\1>/gs)].map(
    ([, , attributes = "", content = ""]) => {
      const [, level] = /data-level="(\w+)"/.exec(attributes) ?? [];
      const words = textOf({ text: content });
      return level === undefined ? words : `${level}: ${words}`;
    },
  );
}
