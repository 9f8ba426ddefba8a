import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { OPERATION_KINDS } from "../api/operation.ts";
import { FAILURE_REASONS } from "../api/failure.ts";
import type { Shard } from "../config/shard.ts";
import type { Build } from "../../support/build.ts";
import { keysOf } from "../../support/keys.ts";
import type { StorageFailure } from "../judge/own-problems.ts";
import type { Problem } from "../judge/problem.ts";
import { alertOf } from "../judge/states.ts";
import { SKIP_REASONS, type PollEvents } from "../polling/observation.ts";
import { nextTurnSeconds, watchEventLoop, type Delays } from "./event-loop.ts";

/** The statistics in the names of prom-client, and their words. */
const DELAYS: Readonly<Record<keyof Delays, string>> = {
  min: "Minimum",
  max: "Maximum",
  mean: "Mean",
  stddev: "Standard deviation",
  p50: "50th percentile",
  p90: "90th percentile",
  p99: "99th percentile",
};
/** This ends the ticks of a timer that nobody needs. */
const NEVER_MS = 2 ** 31 - 1;

const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What the metrics show of the journal. */
export interface JournalFacts {
  isUp(): boolean;
  /** Returns why nothing can be written; `undefined` if the latest write was good. */
  failing(): StorageFailure | undefined;
  bytes(): number;
  /** Returns the number of damaged lines that were found since the start. */
  damagedLines(): number;
}

/** The reasons why a target of /sd/websites is left out: it is beyond the limits, or refused. */
export const LEFT_OUT = ["limit", "address", "port", "private"] as const;
export type LeftOut = (typeof LEFT_OUT)[number];

export interface SelfMetrics extends PollEvents {
  /** Counts a load, at the Unix time `atMs`. */
  reloaded(isSuccess: boolean, atMs: number): void;
  /** Sets the Unix time in milliseconds at which the next poll is due; infinite if none is. */
  nextPoll(atMs: number): void;
  /** Sets the problems of the exporter itself. */
  problems(all: readonly Problem[]): void;
  /** Sets the number of enabled appliances. */
  appliances(count: number): void;
  /** Sets the numbers of targets that the latest answer of /sd/websites has left out, by reason. */
  targetsLeftOut(counts: Readonly<Record<LeftOut, number>>): void;
  /** Returns the metrics in the text format, without NaN samples, and without families that have no samples. */
  render(): Promise<string>;
}

/** Creates the exporter's own metrics. Each rendering calls `droppedLogLines`. */
export function createSelfMetrics(
  facts: {
    readonly version: string;
    readonly build: Build;
    readonly shard: Shard;
    readonly externalUrl?: string;
    readonly journal?: JournalFacts | undefined;
  },
  droppedLogLines: () => number,
): SelfMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS });
  // The names of these gauges claim that they are counters.
  for (const gauges of ["handles", "requests", "resources"])
    registry.removeSingleMetric(`nodejs_active_${gauges}_total`);
  // Each scrape would empty the statistics of prom-client for other scrapers, and an empty one would show a minimum of centuries.
  for (const name of ["", ...keysOf(DELAYS).map((each) => `${each}_`)])
    registry.removeSingleMetric(`nodejs_eventloop_lag_${name}seconds`);
  const gauge = (name: string, help: string, labelNames: readonly string[] = []) =>
    new Gauge({ name, help, labelNames, registers });
  const counter = (name: string, help: string, labelNames: readonly string[] = []) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = (name: string, help: string, buckets: number[]) =>
    new Histogram({ name, help, labelNames: ["operation"], buckets, registers });

  const lag = gauge("nodejs_eventloop_lag_seconds", "Delay of the event loop at this scrape.");
  const delays = watchEventLoop();
  const lags = keysOf(DELAYS).map((name) => {
    const help = `${DELAYS[name]} of the event loop's delays in the latest minute or two, equal for all scrapers.`;
    return { name, lagIn: gauge(`nodejs_eventloop_lag_${name}_seconds`, help) };
  });

  const { externalUrl = "" } = facts;
  const { index, total } = facts.shard;
  const { revision, branch, date: builddate, nodeVersion: nodeversion } = facts.build;
  gauge(
    "appliance_exporter_build_info",
    "Version and build of the exporter, and the version of Node.js; always 1.",
    ["version", "revision", "branch", "builddate", "nodeversion"],
  ).set({ version: facts.version, revision, branch, builddate, nodeversion }, 1);
  gauge(
    "appliance_exporter_external_url_info",
    "URL under which users reach the exporter (--web.external-url), or an empty text; always 1.",
    ["external_url"],
  ).set({ external_url: externalUrl }, 1);
  gauge(
    "appliance_exporter_shard_info",
    "Shard of this exporter and number of shards (0 of 1: all clusters); always 1.",
    ["shard", "total"],
  ).set({ shard: index, total }, 1);
  const shards = gauge("appliance_exporter_shards", "Number of shards that share the clusters.", ["total"]);
  shards.set({ total }, total);
  const reloadSuccessful = gauge(
    "appliance_exporter_config_last_reload_successful",
    "Whether the last attempt to load the configuration succeeded.",
  );
  const reloadTimestamp = gauge(
    "appliance_exporter_config_last_reload_success_timestamp_seconds",
    "Unix time of the last successful load of the configuration.",
  );
  const appliances = gauge(
    "appliance_exporter_appliances",
    "Enabled appliances of this shard in the configuration.",
  );
  const inFlight = gauge("appliance_exporter_polls_in_flight", "Polls in flight.");
  const nextPoll = gauge(
    "appliance_exporter_next_poll_timestamp_seconds",
    "Unix time at which the first of all operations is due next; absent if none is.",
  );
  const skipped = counter(
    "appliance_exporter_polls_skipped_total",
    "Skipped polls: the previous one was still in flight (overlap), the appliance requested a delay or refused the credentials (backoff), or the process was blocked (missed).",
    ["operation", "reason"],
  );
  const duration = histogram(
    "appliance_exporter_poll_duration_seconds",
    "Duration of polls, from the name lookup to the last byte.",
    [...BUCKETS_SECONDS, 20, 30, 60],
  );
  const lateness = histogram(
    "appliance_exporter_poll_lateness_seconds",
    "Delay of polls from the due time to the start, including the wait for a slot or a connection.",
    [...BUCKETS_SECONDS, 30, 60],
  );
  const failures = counter(
    "appliance_exporter_poll_failures_total",
    "Failed polls by operation and reason.",
    ["operation", "reason"],
  );
  const targetsLeftOut = gauge(
    "appliance_exporter_website_targets_left_out",
    "Targets that the latest answer of /sd/websites has left out, by the reason.",
    ["reason"],
  );
  const dropped = counter(
    "appliance_exporter_log_messages_dropped_total",
    "Log lines dropped because stderr was blocked or closed.",
  );

  const problem = gauge(
    "appliance_exporter_problem",
    "1 for each problem of the exporter itself; absent for a kind that it does not have.",
    ["kind", "severity", "alert"],
  );
  const problemWords = gauge(
    "appliance_exporter_problem_words_info",
    "1 for the sentence about each problem of the exporter itself, and the advice about it.",
    ["kind", "summary", "advice"],
  );
  const { journal } = facts;
  const storage = journal && {
    up: gauge("appliance_exporter_storage_up", "Whether the journal was written in the last 15 seconds."),
    bytes: gauge("appliance_exporter_storage_bytes", "Size of the files of the journal."),
    damagedLines: gauge(
      "appliance_exporter_storage_damaged_lines",
      "Damaged or missing lines that were found in the journal since the start; what they said is unknown.",
    ),
  };

  for (const reason of LEFT_OUT) targetsLeftOut.set({ reason }, 0);
  for (const operation of OPERATION_KINDS) {
    duration.zero({ operation });
    lateness.zero({ operation });
    for (const reason of SKIP_REASONS) skipped.inc({ operation, reason }, 0);
    for (const reason of FAILURE_REASONS) failures.inc({ operation, reason }, 0);
  }

  return {
    started: (operation, latenessSeconds) => {
      inFlight.inc();
      lateness.observe({ operation }, latenessSeconds);
    },
    ended: (operation, durationSeconds) => {
      inFlight.dec();
      duration.observe({ operation }, durationSeconds);
    },
    observed: ({ kind: operation, outcome }) => {
      if (!outcome.ok) failures.inc({ operation, reason: outcome.failure.reason });
    },
    skipped: (operation, reason, count) => skipped.inc({ operation, reason }, count),
    reloaded: (isSuccess, atMs) => {
      reloadSuccessful.set(isSuccess ? 1 : 0);
      if (isSuccess) reloadTimestamp.set(atMs / 1000);
    },
    nextPoll: (atMs) => nextPoll.set(Number.isFinite(atMs) ? atMs / 1000 : Number.NaN),
    problems: (all) => {
      problem.reset();
      problemWords.reset();
      for (const { kind, severity, summary, advice } of all) {
        const alert = alertOf(kind);
        problem.set({ kind, severity, ...(alert && { alert }) }, 1);
        problemWords.set({ kind, summary, advice }, 1);
      }
    },
    appliances: (count) => appliances.set(count),
    targetsLeftOut: (counts) => {
      for (const reason of LEFT_OUT) targetsLeftOut.set({ reason }, counts[reason]);
    },
    render: async () => {
      dropped.reset();
      dropped.inc(droppedLogLines());
      storage?.up.set(journal?.isUp() === true ? 1 : 0);
      storage?.bytes.set(journal?.bytes() ?? 0);
      storage?.damagedLines.set(journal?.damagedLines() ?? 0);
      lag.set(await nextTurnSeconds());
      const known = delays();
      for (const { name, lagIn } of lags) lagIn.set(known?.[name] ?? Number.NaN);
      const text = (await registry.metrics()).replace(/^[^#\n].* [Nn]a[Nn]\n/gm, "");
      return text.replace(/^# HELP (\S+) .*\n# TYPE \1 \S+\n(?!\1)/gm, "");
    },
  };
}
