import { SENTENCE_LENGTH, shortened } from "./shortened.ts";

/** Safe markup: every value in it was escaped. */
export interface Html {
  readonly text: string;
}

type Value = string | number | Html | readonly Html[];

export const nothing: Html = { text: "" };

/** The fixed parts of a template. */
interface Template {
  /** Without indentation. */
  readonly parts: readonly string[];
  /** For each value, whether it is inside a tag, as an attribute. */
  readonly isInTag: readonly boolean[];
}

const templates = new WeakMap<TemplateStringsArray, Template>();

/**
 * Markup from a template. A string becomes text: escaped, and cut to the length of a sentence unless it is an attribute.
 * Only what this function returned is inserted as markup.
 */
export function html(template: TemplateStringsArray, ...values: readonly Value[]): Html {
  const { parts, isInTag } = compact(template);
  const texts = values.map(
    (value, index) => markup(value, isInTag[index] ?? false) + (parts[index + 1] ?? ""),
  );
  return { text: (parts[0] ?? "") + texts.join("") };
}

/** Replaces each line break and its indentation by one space, which saves two thirds of the bytes. */
function compact(template: TemplateStringsArray): Template {
  const known = templates.get(template);
  if (known !== undefined) return known;
  const parts = template.map((part) => part.replace(/\n\s*/g, " "));
  const isInTag = parts.map((_, index) => {
    const before = parts.slice(0, index + 1).join("");
    return before.lastIndexOf("<") > before.lastIndexOf(">");
  });
  const made = { parts, isInTag };
  templates.set(template, made);
  return made;
}

function markup(value: Value, isInTag: boolean): string {
  if (typeof value === "string") {
    const text = isInTag ? value : shortened(value, SENTENCE_LENGTH);
    if (!SPECIAL.test(text)) return text;
    return escapeHtml(isInTag ? text : visible(text));
  }
  if (typeof value === "number") return String(value);
  if ("text" in value) return value.text;
  return value.map(({ text }) => text).join("");
}

/** Most texts have none of these characters. */
const SPECIAL = /[&<>"']|\p{Bidi_Control}/u;

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** Shows characters that change the direction of the text after them as `\u{202E}`. Attributes keep them: they are compared. */
function visible(text: string): string {
  return text.replace(
    /\p{Bidi_Control}/gu,
    (char) => `\\u{${char.charCodeAt(0).toString(16).toUpperCase()}}`,
  );
}
