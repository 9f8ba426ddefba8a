import type { Html } from "../../../src/web/status-page/view/html.ts";

/** What a reader gets of markup: its text, blanks made one. */
export function textOf({ text }: Html): string {
  return text
    .replace(/<[^>]*>/g, "")
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replace(/\s+/g, " ")
    .trim();
}

/** A row of a table: what it is about, then each cell as `standing: text`, or its text alone where it has none. */
export function cellsOf({ text }: Html): readonly string[] {
  return [...text.matchAll(/<(th|td)([^>]*)>(.*?)<\/\1>/gs)].map(([, , attributes = "", content = ""]) => {
    const [, standing] = /data-standing="(\w+)"/.exec(attributes) ?? [];
    const words = textOf({ text: content });
    return standing === undefined ? words : `${standing}: ${words}`;
  });
}
