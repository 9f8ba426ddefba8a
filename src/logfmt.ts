/** One line of JSON as one line of logfmt: `key=value`, quoted where the value holds anything but plain characters. */
export function toLogfmt(jsonLine: string): string {
  const fields = Object.entries(JSON.parse(jsonLine) as Record<string, unknown>);
  return `${fields.map(([key, value]) => `${key}=${formatValue(value)}`).join(" ")}\n`;
}

function formatValue(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return /^[^\s"=\\]+$/.test(text) ? text : JSON.stringify(text);
}
