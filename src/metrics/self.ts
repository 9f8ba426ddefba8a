import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Shard } from "../config/shard.ts";
import { SKIP_REASONS, type PollEvents } from "../polling/observation.ts";
import { FAILURE_REASONS } from "../client/failure.ts";
import { OPERATION_KINDS } from "../api/operations.ts";

/** Gauges of prom-client whose names claim to be counters. */
const MISNAMED = [
  "nodejs_active_handles_total",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total",
];

/** Constant for a running exporter. */
export interface SelfFacts {
  readonly version: string;
  readonly nodeVersion: string;
  readonly shard: Shard;
}

/** The exporter's own metrics. */
export interface SelfMetrics extends PollEvents {
  /** Call after each load; `atMs`: Unix time. */
  reloaded(isSuccess: boolean, atMs: number): void;
  /** `count`: enabled appliances. */
  appliances(count: number): void;
  /** The metrics in the text format, without NaN samples. */
  render(): Promise<string>;
}

/** Uses its own registry. Calls `droppedLogLines` at each rendering. */
export function createSelfMetrics(facts: SelfFacts, droppedLogLines: () => number): SelfMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);

  const buildInfo = new Gauge({
    name: "appliance_exporter_build_info",
    help: "Version of the exporter and of Node.js; always 1.",
    labelNames: ["version", "nodeversion"],
    registers,
  });
  buildInfo.set({ version: facts.version, nodeversion: facts.nodeVersion }, 1);
  const total = String(facts.shard.total);
  const shardInfo = new Gauge({
    name: "appliance_exporter_shard_info",
    help: "Shard of this exporter and number of shards (0 of 1: all clusters); always 1.",
    labelNames: ["shard", "total"],
    registers,
  });
  shardInfo.set({ shard: String(facts.shard.index), total }, 1);
  const shards = new Gauge({
    name: "appliance_exporter_shards",
    help: "Number of shards that share the clusters.",
    labelNames: ["total"],
    registers,
  });
  shards.set({ total }, facts.shard.total);
  const reloadSuccessful = new Gauge({
    name: "appliance_exporter_config_last_reload_successful",
    help: "Whether the last attempt to load the configuration succeeded.",
    registers,
  });
  const reloadTimestamp = new Gauge({
    name: "appliance_exporter_config_last_reload_success_timestamp_seconds",
    help: "Unix time of the last successful load of the configuration.",
    registers,
  });
  const appliances = new Gauge({
    name: "appliance_exporter_appliances",
    help: "Enabled appliances of this shard in the configuration.",
    registers,
  });
  const inFlight = new Gauge({
    name: "appliance_exporter_polls_in_flight",
    help: "Polls in flight.",
    registers,
  });
  const skipped = new Counter({
    name: "appliance_exporter_polls_skipped_total",
    help: "Skipped polls: the previous one was still in flight (overlap), the appliance requested a delay or refused the credentials (backoff), or the process was blocked (missed).",
    labelNames: ["reason"],
    registers,
  });
  const duration = new Histogram({
    name: "appliance_exporter_poll_duration_seconds",
    help: "Duration of polls, from the name lookup to the last byte.",
    labelNames: ["operation"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60],
    registers,
  });
  const lateness = new Histogram({
    name: "appliance_exporter_poll_lateness_seconds",
    help: "Delay of polls from the due time to the start, including the wait for a slot or a connection.",
    labelNames: ["operation"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers,
  });
  const failures = new Counter({
    name: "appliance_exporter_poll_failures_total",
    help: "Failed polls by operation and reason.",
    labelNames: ["operation", "reason"],
    registers,
  });
  const dropped = new Counter({
    name: "appliance_exporter_log_messages_dropped_total",
    help: "Log lines dropped because stderr was blocked or closed.",
    registers,
  });

  for (const reason of SKIP_REASONS) skipped.inc({ reason }, 0);
  for (const operation of OPERATION_KINDS) {
    duration.zero({ operation });
    lateness.zero({ operation });
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
    skipped: (_kind, reason, count) => skipped.inc({ reason }, count),
    reloaded: (isSuccess, atMs) => {
      reloadSuccessful.set(isSuccess ? 1 : 0);
      if (isSuccess) reloadTimestamp.set(atMs / 1000);
    },
    appliances: (count) => appliances.set(count),
    render: async () => {
      dropped.reset();
      dropped.inc(droppedLogLines());
      return withoutNaN(await registry.metrics());
    },
  };
}

function withoutNaN(text: string): string {
  return text.replace(/^[^#\n].* [Nn]a[Nn]\n/gm, "");
}
