import { printable } from "../../../support/text.ts";

/** Safe markup: every value in it was escaped. */
export interface Html {
  readonly text: string;
}

type HtmlValue = string | number | Html | readonly Html[];

export const nothing: Html = { text: "" };

/** The fixed parts of templates, in which each line break with its indentation is one space, which saves two thirds of the bytes. */
const compacted = new WeakMap<TemplateStringsArray, readonly string[]>();

/** Returns markup from a template. A string becomes text. Only results of this function are inserted as markup. */
export function html(template: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const parts = compacted.get(template) ?? template.map((part) => part.replace(/\n\s*/g, " "));
  compacted.set(template, parts);
  const texts = values.map((value, index) => markup(value) + (parts[index + 1] ?? ""));
  return { text: (parts[0] ?? "") + texts.join("") };
}

function markup(value: HtmlValue): string {
  if (typeof value === "string") return PLAIN.test(value) ? value : escapeHtml(value);
  if (typeof value === "number") return String(value);
  if ("text" in value) return value.text;
  return value.map(({ text }) => text).join("");
}

/** Most texts have only these characters: those of ASCII that are neither special nor invisible. */
const PLAIN = /^[ !#-%(-;=?-~]*$/;

function escapeHtml(text: string): string {
  return printable(text).replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
