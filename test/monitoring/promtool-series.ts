/** What one scrape found: a number, nothing (`_`), or that the series has ended (`stale`). */
export type Sample = number | "_" | "stale";

/** A series in promtool's notation, taken apart. */
export interface Series {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  /** One for each scrape. */
  readonly samples: readonly Sample[];
}

/** The samples that promtool's notation stands for: `1+2x3` is 1 3 5 7, `_x2` twice nothing. */
export function expand(notation: string): readonly Sample[] {
  return notation.trim().split(/\s+/).flatMap(expandToken);
}

function expandToken(token: string): readonly Sample[] {
  if (token === "_" || token === "stale") return [token];
  const gap = /^_x(\d+)$/.exec(token);
  if (gap !== null) return Array.from({ length: Number(gap[1]) }, () => "_" as const);
  const run = /^(-?[\d.]+)([+-][\d.]+)?x(\d+)$/.exec(token);
  if (run === null) return [Number(token)];
  const [, start, step = "0", count] = run;
  return Array.from({ length: Number(count) + 1 }, (_, index) => Number(start) + Number(step) * index);
}

const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Metric and labels of `name{label="value"}`; values keep their escapes. */
export function parseSeries(text: string): Omit<Series, "samples"> {
  const metric = /^[\w:]*/.exec(text)?.[0] ?? "";
  return {
    metric,
    labels: Object.fromEntries([...text.matchAll(LABEL)].map(([, name = "", value = ""]) => [name, value])),
  };
}

/** The inverse of `parseSeries`. */
export function formatSeries({ metric, labels }: Omit<Series, "samples">): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return `${metric}{${pairs.join(",")}}`;
}
