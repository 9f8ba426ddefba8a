import { SENTENCE_LENGTH, shortened } from "./shortened.ts";

/** Markup that is safe to send: everything put into it was escaped. */
export interface Html {
  readonly text: string;
}

type Value = string | number | Html | readonly Html[];

/** What is left out. */
export const nothing: Html = { text: "" };

/** What is fixed in a template. */
interface Template {
  /** The indentation of its source taken out. */
  readonly parts: readonly string[];
  /** Of each value, whether it stands within a tag: as an attribute, and not as text to be read. */
  readonly isInTag: readonly boolean[];
}

/** By their identity. */
const compacted = new WeakMap<TemplateStringsArray, Template>();

/**
 * Markup from a template; what is put in is text, unless it is markup made in the same way, and is cut to the length of a
 * sentence where it is to be read. Throws where a value is missing, as it may be in the document of another version: what
 * is not known is not shown as nothing.
 */
export function html(template: TemplateStringsArray, ...values: readonly Value[]): Html {
  const { parts, isInTag } = compact(template);
  const [first = ""] = parts;
  const text = values.reduce<string>(
    (before, value, index) => before + markup(value, isInTag[index] ?? false) + (parts[index + 1] ?? ""),
    first,
  );
  return { text };
}

/** A line break and its indentation are one blank: the same to a reader, and a third of the bytes. */
function compact(template: TemplateStringsArray): Template {
  const known = compacted.get(template);
  if (known !== undefined) return known;
  const parts = template.map((part) => part.replace(/\n\s*/g, " "));
  const isInTag = parts.map((_, index) => {
    const before = parts.slice(0, index + 1).join("");
    return before.lastIndexOf("<") > before.lastIndexOf(">");
  });
  const made = { parts, isInTag };
  compacted.set(template, made);
  return made;
}

function markup(value: Value, isInTag: boolean): string {
  if (typeof value === "string")
    return isInTag ? escapeHtml(value) : escapeHtml(visible(shortened(value, SENTENCE_LENGTH)));
  if (typeof value === "number") return String(value);
  if ("text" in value) return value.text;
  return value.map(({ text }) => text).join("");
}

const SPECIAL = /[&<>"']/g;

function escapeHtml(text: string): string {
  return text.replace(SPECIAL, (char) => `&#${char.charCodeAt(0)};`);
}

/** Those that turn the direction of what follows them: a name with one would put the words around it out of order. */
const BIDI_CONTROL = /\p{Bidi_Control}/gu;

/** They are shown by their number: `\u{202E}`. An attribute keeps them, since it is compared and sent back as it is. */
function visible(text: string): string {
  return text.replace(BIDI_CONTROL, (char) => `\\u{${char.charCodeAt(0).toString(16).toUpperCase()}}`);
}
