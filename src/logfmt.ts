/** One line of JSON as one line of logfmt: `key=value`, quoted where the value holds anything but plain characters. */
export function toLogfmt(jsonLine: string): string {
  const fields: Readonly<Record<string, unknown>> = JSON.parse(jsonLine);
  return `${Object.entries(fields)
    .map(([key, value]) => `${key}=${formatValue(value)}`)
    .join(" ")}\n`;
}

function formatValue(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return /^[^\s"=\\]+$/.test(text) ? text : JSON.stringify(text);
}
