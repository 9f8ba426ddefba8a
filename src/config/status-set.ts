/** A set of HTTP status codes as inclusive ranges, in the order they were written. */
export interface StatusSet {
  readonly ranges: readonly StatusRange[];
}

export interface StatusRange {
  readonly from: number;
  readonly to: number;
}

/** Whether `status` lies in one of the set's ranges; 0, for no HTTP response, lies in none. */
export function statusSetHas(set: StatusSet, status: number): boolean {
  return set.ranges.some(({ from, to }) => status >= from && status <= to);
}

/** One code (`401`) or a range of them (`200-399`), each 100 to 999 and in order; `undefined` for anything else. */
export function parseStatusRange(text: string): StatusRange | undefined {
  const match = /^(\d{3})(?:-(\d{3}))?$/.exec(text);
  if (!match) return undefined;
  const from = Number(match[1]);
  const to = Number(match[2] ?? match[1]);
  return from >= 100 && from <= to ? { from, to } : undefined;
}
