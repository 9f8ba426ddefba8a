/** Converts a line of JSON to a line of logfmt: `key=value`, quoted if the value needs it. */
export function toLogfmt(jsonLine: string): string {
  const fields: Readonly<Record<string, unknown>> = JSON.parse(jsonLine);
  return `${Object.entries(fields)
    .map(([key, value]) => `${key}=${formatValue(value)}`)
    .join(" ")}\n`;
}

/** A character as `\u001b`. */
export function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function formatValue(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (/^[^\s"=\\\p{Cc}]+$/u.test(text)) return text;
  // JSON escapes only control characters below the space; the others can control a terminal too.
  return JSON.stringify(text).replace(/\p{Cc}/gu, escaped);
}
