/** What one reader looks at, besides the filter. */
export interface Reader {
  /** Unix time of the page in milliseconds. */
  readonly nowMs: number;
  /** Ids of the elements that the reader opened or closed. The page decides about all others. */
  readonly opened: ReadonlySet<string>;
  readonly closed: ReadonlySet<string>;
  /** Whether the content of closed elements is sent too: a browser without a script cannot request it. */
  readonly withClosed: boolean;
}

/** From the query of a URL: `open` and `closed` name ids, `fragment` marks a request of the script. */
export function readReader(query: URLSearchParams, nowMs: number): Reader {
  const [opened, closed] = [new Set(query.getAll("open")), new Set(query.getAll("closed"))];
  return { nowMs, opened, closed, withClosed: !query.has("fragment") };
}

export function isOpen({ opened, closed }: Reader, id: string, byDefault: boolean): boolean {
  return !closed.has(id) && (byDefault || opened.has(id));
}
