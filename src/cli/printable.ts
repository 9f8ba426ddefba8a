import { escaped } from "../support/logfmt.ts";

/** Control characters, including those of text direction. */
const CONTROL = /[\p{Cc}\p{Bidi_Control}]/gu;

/** Escapes control characters as `\u001b`, so that text cannot control a terminal; keeps line breaks and tabs. */
export function printable(text: string): string {
  return text.replace(CONTROL, (char) => (char === "\n" || char === "\t" ? char : escaped(char)));
}

/** Indented JSON and a line break, without control characters. */
export function toJson(value: unknown): string {
  return printable(`${JSON.stringify(value, null, 2)}\n`);
}
