import { startToolServer } from "./tool-server.ts";

/** One series of an answer: its labels, and its values, of which an instant query has one. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly values: readonly number[];
  /** The Unix times of the values. */
  readonly timesMs: readonly number[];
}

export interface ScrapeTarget {
  readonly health: string;
  readonly lastError: string;
}

/** A group of rules, as it was evaluated last. */
export interface RuleGroup {
  readonly name: string;
  /** In seconds. */
  readonly evaluationTime: number;
  /** When, as text. */
  readonly lastEvaluation: string;
}

/** A real Prometheus with a folder of its own. */
export interface Prometheus {
  /** As things are now. Rejects with Prometheus's own words where it refuses. */
  query(expression: string): Promise<readonly Series[]>;
  /** At each second since a moment of Unix time. */
  queryRange(expression: string, sinceMs: number): Promise<readonly Series[]>;
  /** The values that a label has in the series of a selector. */
  labelValues(label: string, selector: string): Promise<readonly string[]>;
  targets(): Promise<readonly ScrapeTarget[]>;
  ruleGroups(): Promise<readonly RuleGroup[]>;
  /** Goes on with another configuration. */
  reload(config: string): Promise<void>;
  /** Kills it, and starts it anew with what it has stored. */
  restart(): Promise<void>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

/** Starts Prometheus, without waiting until it listens. `config` is YAML, or data; `files` are texts by name. */
export async function startPrometheus(
  config: unknown,
  files: Readonly<Record<string, string>> = {},
): Promise<Prometheus> {
  // JSON is YAML.
  const text = typeof config === "string" ? config : JSON.stringify(config);
  const flags = ["--config.file=prometheus.yml", "--storage.tsdb.path=data"];
  const server = await startToolServer("prometheus", flags, { ...files, "prometheus.yml": text });
  const api = `${server.url}/api/v1`;
  return {
    query: (query) => seriesOf(`${api}/query`, { query }),
    queryRange: (query, sinceMs) => {
      const range = { start: String(sinceMs / 1000), end: String(Date.now() / 1000), step: "1" };
      return seriesOf(`${api}/query_range`, { query, ...range });
    },
    labelValues: (label, selector) =>
      dataOf(`${api}/label/${label}/values?match[]=${encodeURIComponent(selector)}`),
    targets: async () => (await dataOf<Targets>(`${api}/targets`)).activeTargets,
    ruleGroups: async () => (await dataOf<{ readonly groups: readonly RuleGroup[] }>(`${api}/rules`)).groups,
    reload: async (next) => {
      await server.write("prometheus.yml", next);
      server.child().kill("SIGHUP");
    },
    restart: server.restart,
    stop: server.stop,
  };
}

interface Targets {
  readonly activeTargets: readonly ScrapeTarget[];
}

type Point = readonly [seconds: number, value: string];

interface Found {
  readonly resultType: "scalar" | "vector" | "matrix";
  readonly result: readonly {
    readonly metric: Series["labels"];
    readonly value?: Point;
    readonly values?: readonly Point[];
  }[];
}

async function seriesOf(url: string, asked: Readonly<Record<string, string>>): Promise<readonly Series[]> {
  const { resultType, result } = await dataOf<Found>(url, new URLSearchParams(asked));
  if (resultType === "scalar") throw new Error(`no series, but a number: ${asked["query"]}`);
  return result.map(({ metric, value, values = value === undefined ? [] : [value] }) => ({
    labels: metric,
    values: values.map(([, text]) => Number(text.replace("Inf", "Infinity"))),
    timesMs: values.map(([seconds]) => Math.round(seconds * 1000)),
  }));
}

async function dataOf<T>(url: string, form?: URLSearchParams): Promise<T> {
  const response = await fetch(url, form === undefined ? {} : { method: "POST", body: form });
  const { data, error }: { readonly data: T; readonly error?: string } = JSON.parse(await response.text());
  if (error !== undefined) throw new Error(`${error}: ${form?.get("query") ?? url}`);
  return data;
}
