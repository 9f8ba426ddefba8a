import type { Course } from "./judged.ts";

export type Labels = Readonly<Record<string, string>>;

/** Values from their second on; `undefined`: absent. */
export type Steps<Value> = readonly (readonly [fromSeconds: number, value: Value | undefined])[];

export interface Series {
  readonly metric: string;
  readonly labels: Labels;
  readonly valueAt: (second: number) => number | undefined;
}

export function steps<Value>(given: Steps<Value>): (second: number) => Value | undefined {
  return (second) => given.findLast(([from]) => from <= second)?.[1];
}

export function series(metric: string, labels: Labels, given: Steps<number>): Series {
  return { metric, labels, valueAt: steps(given) };
}

/** Pairs of which all is well, so that an exporter with troubles is not blind. */
export function healthy(count: number): readonly Course[] {
  return Array.from({ length: count }, (_, nth) => ({
    cluster: `healthy-${nth}`,
    members: { a: [[0, "MASTER"]], b: [[0, "BACKUP"]] },
  }));
}

export interface ExporterSetup {
  readonly job?: string;
  /** INDEX/TOTAL; default: 0/1. */
  readonly shard?: string;
  /** 1 while it answers; absent while it is no target. */
  readonly up?: Steps<0 | 1>;
  /** When its process began, in seconds. */
  readonly started?: Steps<number>;
  /** The value of --web.external-url; default: the flag is not given. */
  readonly externalUrl?: string;
}

/** Everything that a Prometheus gets from an exporter. */
export interface Exporter {
  readonly labels: Labels;
  readonly upAt: (second: number) => number | undefined;
  readonly series: readonly Series[];
}

export function exporter(instance: string, says: readonly Series[], setup: ExporterSetup = {}): Exporter {
  const {
    job = "appliance-exporter",
    shard: place = "0/1",
    up = [[0, 1]],
    started = [[0, -1000]],
    externalUrl = "",
  } = setup;
  const [shard = "0", total = "1"] = place.split("/");
  const always: Steps<number> = [[0, 1]];
  return {
    labels: { job, instance },
    upAt: steps(up),
    series: [
      series("appliance_exporter_build_info", {}, always),
      series("appliance_exporter_external_url_info", { external_url: externalUrl }, always),
      series("appliance_exporter_shard_info", { shard, total }, always),
      series("appliance_exporter_shards", { total }, [[0, Number(total)]]),
      series("process_start_time_seconds", {}, started),
      ...says,
    ],
  };
}

/** How Prometheus reads the exporters. */
export interface Scraping {
  /** Of scrapes and of evaluations. */
  readonly seconds: number;
  /** Every third scrape fails; of each exporter another one. */
  readonly losesScrapes: boolean;
}

export interface InputSeries {
  readonly series: string;
  readonly values: string;
}

/** What promtool reads: a failed scrape ends all series of the exporter, and `up` is 0. */
export function scrape(
  exporters: readonly Exporter[],
  lastsSeconds: number,
  { seconds, losesScrapes }: Scraping,
): readonly InputSeries[] {
  const times = Array.from({ length: Math.ceil(lastsSeconds / seconds) + 1 }, (_, index) => index * seconds);
  return exporters.flatMap(({ labels, upAt, series: all }, nth) => {
    const isLost = (second: number) => losesScrapes && (second / seconds + nth) % 3 === 2;
    const upNow = times.map((second) => (isLost(second) && upAt(second) === 1 ? 0 : upAt(second)));
    const scraped = all.map(({ metric, labels: own, valueAt }) => ({
      series: nameOf(metric, { ...labels, ...own }),
      values: times.map((second, index) => (upNow[index] === 1 ? valueAt(second) : undefined)),
    }));
    return [{ series: nameOf("up", labels), values: upNow }, ...scraped].map(({ series: name, values }) => ({
      series: name,
      values: compact(values.map((value) => (value === undefined ? "stale" : String(value)))),
    }));
  });
}

/** `1 1 1` is `1x2`. promtool has no such form for `stale`. */
function compact(values: readonly string[]): string {
  const runs: { readonly value: string; count: number }[] = [];
  for (const value of values) {
    const last = runs.at(-1);
    if (last?.value === value) last.count += 1;
    else runs.push({ value, count: 1 });
  }
  return runs
    .map(({ value, count }) =>
      value === "stale"
        ? ["stale", ...(count > 1 ? [`_x${count - 1}`] : [])].join(" ")
        : `${value}x${count - 1}`,
    )
    .join(" ");
}

export function nameOf(metric: string, labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `${metric}{${pairs.join(",")}}`;
}
