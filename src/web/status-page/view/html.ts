/** Markup that is safe to send: everything put into it was escaped. */
export interface Html {
  readonly text: string;
}

type Value = string | number | Html | readonly Html[];

/** What is left out. */
export const nothing: Html = { text: "" };

/** Templates by their identity, each with the indentation of its source taken out. */
const compacted = new WeakMap<TemplateStringsArray, readonly string[]>();

/** Markup from a template; what is put in is text, unless it is markup made in the same way. */
export function html(template: TemplateStringsArray, ...values: readonly Value[]): Html {
  const [first = "", ...rest] = compact(template);
  return { text: rest.reduce((text, part, index) => text + markup(values[index] ?? "") + part, first) };
}

/** A line break and its indentation are one blank: the same to a reader, and a third of the bytes. */
function compact(template: TemplateStringsArray): readonly string[] {
  const known = compacted.get(template);
  if (known !== undefined) return known;
  const parts = template.map((part) => part.replace(/\n\s*/g, " "));
  compacted.set(template, parts);
  return parts;
}

function markup(value: Value): string {
  if (typeof value === "string") return escapeHtml(value);
  if (typeof value === "number") return String(value);
  if ("text" in value) return value.text;
  return value.map(({ text }) => text).join("");
}

const SPECIAL = /[&<>"']/g;

function escapeHtml(text: string): string {
  return text.replace(SPECIAL, (char) => `&#${char.charCodeAt(0)};`);
}
