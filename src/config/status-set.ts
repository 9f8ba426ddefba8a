/** A set of HTTP status codes as inclusive ranges, in the order of the file. */
export interface StatusSet {
  readonly ranges: readonly StatusRange[];
}

export interface StatusRange {
  readonly from: number;
  readonly to: number;
}

/** Of a website without `expect_status`. */
export const DEFAULT_STATUSES: StatusSet = { ranges: [{ from: 200, to: 399 }] };

/** Whether the set contains `status`; it never contains 0, which means no HTTP response. */
export function statusSetHas(set: StatusSet, status: number): boolean {
  return set.ranges.some(({ from, to }) => status >= from && status <= to);
}

/** Parses a code (`401`) or a range (`200-399`) within 100 to 999; otherwise `undefined`. */
export function parseStatusRange(text: string): StatusRange | undefined {
  const match = /^(\d{3})(?:-(\d{3}))?$/.exec(text);
  if (!match) return undefined;
  const from = Number(match[1]);
  const to = Number(match[2] ?? match[1]);
  return from >= 100 && from <= to ? { from, to } : undefined;
}
