import type { FailureReason } from "../../src/exporter/api/failure.ts";
import {
  PROBLEM_OF,
  type ApplianceState,
  type GroupState,
  type WebsiteState,
} from "../../src/exporter/judge/states.ts";
import { reasonInWords } from "../../src/exporter/judge/words.ts";
import { keysOf } from "../../src/support/keys.ts";

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

/** A 0/1 series for each state, and since when it lasts, but for the first one. `ofState`: labels of the former alone. */
function states<State extends string>(
  metric: string,
  labels: Labels,
  all: readonly State[],
  given: Steps<State>,
  ofState: Labels = {},
): readonly Series[] {
  const stateAt = steps(given);
  const since = given.map(([from], index) => [from, index === 0 ? undefined : from] as const);
  return [
    series(`${metric}_since_timestamp_seconds`, labels, since),
    ...all.map((state) => ({
      metric,
      labels: { ...labels, ...ofState, state },
      valueAt: (second: number) => {
        const now = stateAt(second);
        return now === undefined ? undefined : Number(now === state);
      },
    })),
  ];
}

export interface ClusterSetup {
  readonly site?: string;
  /** By name; default: `a` and `b`, which are up. */
  readonly appliances?: Readonly<Record<string, Steps<ApplianceState>>>;
  /** Default: one master. `undefined`: the cluster has no group. */
  readonly group?: Steps<GroupState> | undefined;
  /** Its VIPs; default: 2. */
  readonly vips?: number;
  /** Default: `a`. */
  readonly master?: Steps<string>;
  /** The groups of one more VHID and VIP, one on each link, by interface. */
  readonly links?: Readonly<
    Record<string, { readonly group: Steps<GroupState>; readonly master: Steps<string> }>
  >;
  /** By name: of the protocol https. */
  readonly websites?: Readonly<Record<string, Steps<WebsiteState>>>;
}

/** What an exporter says of a cluster. */
export function cluster(name: string, setup: ClusterSetup = {}): readonly Series[] {
  const {
    appliances = { a: [[0, "up"]], b: [[0, "up"]] },
    master = [[0, "a"]],
    websites = {},
    vips = 2,
    links = {},
  } = setup;
  const group: Steps<GroupState> | undefined = "group" in setup ? setup.group : [[0, "one_master"]];
  const where = { ha_cluster: name, ...(setup.site === undefined ? {} : { site: setup.site }) };
  const members = Object.entries(appliances);
  return [
    ...members.flatMap(([appliance, given]) =>
      states("appliance_state", { ...where, appliance }, keysOf(PROBLEM_OF.appliance), given),
    ),
    ...members.flatMap(([appliance, given]) => failureOf(where, appliance, given)),
    ...clusterState(
      where,
      members.map(([, given]) => given),
    ),
    ...Array.from({ length: vips }, (_, index) => {
      if (group === undefined) return [];
      const labels = { ...where, vhid: String(index + 1), vip: `192.0.2.${100 + index}`, interface: "" };
      return groupSeries(labels, group, master);
    }).flat(),
    ...Object.entries(links).flatMap(([link, of]) =>
      groupSeries({ ...where, vhid: "9", vip: "fe80::1", interface: link }, of.group, of.master),
    ),
    ...Object.entries(websites).flatMap(([website, given]) =>
      states(
        "website_state",
        { ...where, website_id: website, website, protocol: "https" },
        keysOf(PROBLEM_OF.website),
        given,
        { address: `#${website}` },
      ),
    ),
  ];
}

function groupSeries(labels: Labels, group: Steps<GroupState>, master: Steps<string>): readonly Series[] {
  const masterAt = steps(master);
  const names = [...new Set(master.flatMap(([, value]) => value ?? []))];
  return [
    ...states("vrrp_group_state", labels, keysOf(PROBLEM_OF.group), group),
    ...names.map((appliance) => ({
      metric: "vrrp_group_master",
      labels: { ...labels, appliance },
      valueAt: (second: number) => (masterAt(second) === appliance ? 1 : undefined),
    })),
  ];
}

const REASONS: Readonly<Record<Exclude<ApplianceState, "up">, FailureReason>> = {
  down: "connect",
  refused: "auth",
  unknown: "local",
};

function failureOf(where: Labels, appliance: string, given: Steps<ApplianceState>): readonly Series[] {
  const stateAt = steps(given);
  const failed = given.map(([, state]) => state).findLast((state) => state !== undefined && state !== "up");
  const reason = REASONS[failed ?? "down"];
  const valueAt = (second: number) => ((stateAt(second) ?? "up") === "up" ? undefined : 1);
  const told = {
    kind: "appliance_down",
    subject: appliance,
    summary: `${appliance}: ${reasonInWords(reason)}`,
  };
  return [
    {
      metric: "appliance_poll_failure_info",
      labels: { ...where, appliance, operation: "vrrp", reason },
      valueAt,
    },
    { metric: "ha_cluster_problem_words_info", labels: { ...where, ...told }, valueAt },
  ];
}

function clusterState(where: Labels, members: readonly Steps<ApplianceState>[]): readonly Series[] {
  const at = members.map((given) => steps(given));
  const stateAt = (second: number) => {
    const now = at.flatMap((each) => each(second) ?? []);
    if (now.length === 0) return undefined;
    if (now.every((state) => state === "up")) return "up";
    if (now.includes("up")) return "degraded";
    return now.every((state) => state === "down") ? "dark" : "unknown";
  };
  return keysOf(PROBLEM_OF.cluster).map((state) => ({
    metric: "ha_cluster_state",
    labels: { ...where, state },
    valueAt: (second) => {
      const now = stateAt(second);
      return now === undefined ? undefined : Number(now === state);
    },
  }));
}

/** Clusters in which nothing is wrong, so that an exporter with troubles is not blind. */
export function healthy(count: number): readonly Series[] {
  return Array.from({ length: count }, (_, index) => cluster(`healthy-${index}`)).flat();
}

export interface ExporterSetup {
  readonly job?: string;
  /** INDEX/TOTAL; default: 0/1. */
  readonly shard?: string;
  /** 1 while it answers; absent while it is no target. */
  readonly up?: Steps<0 | 1>;
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
  const { job = "appliance-exporter", shard: place = "0/1", up = [[0, 1]], externalUrl = "" } = setup;
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
