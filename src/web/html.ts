/** Markup that is safe to send: everything put into it was escaped. */
export interface Html {
  readonly text: string;
}

/** Markup from a template; what is put in is text, unless it is markup made in the same way. */
export function html(parts: TemplateStringsArray, ...values: readonly (string | Html)[]): Html {
  const texts = values.map((value) => (typeof value === "string" ? escapeHtml(value) : value.text));
  return { text: parts.map((part, index) => part + (texts[index] ?? "")).join("") };
}

export function join(parts: readonly Html[]): Html {
  return { text: parts.map(({ text }) => text).join("") };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
