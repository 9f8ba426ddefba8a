/** One line of JSON as one line of logfmt: `key=value`, quoted where the value holds anything but plain characters. */
export function toLogfmt(jsonLine: string): string {
  const fields: Readonly<Record<string, unknown>> = JSON.parse(jsonLine);
  return `${Object.entries(fields)
    .map(([key, value]) => `${key}=${formatValue(value)}`)
    .join(" ")}\n`;
}

function formatValue(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (/^[^\s"=\\\p{Cc}]+$/u.test(text)) return text;
  // JSON escapes the control characters below the space; the others could steer a terminal as well.
  return JSON.stringify(text).replace(
    /\p{Cc}/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
