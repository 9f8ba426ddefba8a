import { startDemo, type Demo } from "../../src/demo/demo.ts";
import { createCleanup } from "../../src/demo/cleanup.ts";
import { systemClock } from "../../src/support/clock.ts";
import { createMemoryLog, startTestExporter, type ExporterUnderTest } from "../support/exporter.ts";
import { eventually } from "../support/eventually.ts";
import { startPrometheus, type Prometheus } from "../support/prometheus-server.ts";
import { startFleet, type Fleet } from "./fleet.ts";
import { BUILD } from "../support/build-facts.ts";

/** A Prometheus that scrapes the demo, and two exporters that poll one fleet in which everything is wrong. */
export interface Rig {
  readonly prometheus: Prometheus;
  readonly fleet: Fleet;
  readonly demo: Demo;
  readonly first: ExporterUnderTest;
  readonly second: ExporterUnderTest;
  /** Unix time from which on it was scraped. */
  readonly sinceMs: number;
  stop(): Promise<void>;
}

/** Starts it and waits until all three are scraped. */
export async function startRig(): Promise<Rig> {
  const cleanup = createCleanup();
  try {
    const fleet = await startFleet(cleanup);
    const demo = await startOwnDemo();
    cleanup.add(demo.stop);
    const [first, second] = [await startExporterOf(fleet), await startExporterOf(fleet)];
    cleanup.add(first.stop);
    cleanup.add(second.stop);
    const sinceMs = Date.now();
    const targets = [...demo.addresses, `127.0.0.1:${first.port}`, `127.0.0.1:${second.port}`];
    const prometheus = await startPrometheus(scraping(targets));
    cleanup.add(prometheus.stop);
    await eventually(
      async () => {
        const up = await prometheus.query("up == 1");
        if (up.length < targets.length) throw new Error("not scraped yet");
      },
      { everyMs: 200 },
    );
    return { prometheus, fleet, demo, first, second, sinceMs, stop: cleanup.run };
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

function scraping(targets: readonly string[]): unknown {
  return {
    global: { scrape_interval: "1s", scrape_timeout: "1s" },
    scrape_configs: [{ job_name: "appliance-exporter", static_configs: [{ targets }] }],
  };
}

async function startOwnDemo(): Promise<Demo> {
  const started = await startDemo(
    {
      listenAddresses: [{ host: "127.0.0.1", port: 0 }],
      version: "1.2.3",
      build: BUILD,
      maxLookups: 2,
      maxPasswordReads: 2,
    },
    { clock: systemClock, logger: createMemoryLog().logger, droppedLogLines: () => 0 },
  );
  if (!started.ok) throw new Error(`cannot listen: ${started.code}`);
  return started.demo;
}

function startExporterOf({ config, files }: Fleet): Promise<ExporterUnderTest> {
  return startTestExporter({ config: exporterConfig(config), files });
}

/** The configuration that polls this every few seconds: often, and with time enough on a busy machine. */
export function exporterConfig(fleet: Fleet["config"]): object {
  return {
    polling: { vrrp: { interval: "2s" }, websites: { interval: "3s" } },
    http_client: {
      basic_auth: { username: "monitor", password: "pass:word" },
      tls_config: { ca_file: "ca.pem" },
    },
    ...fleet,
  };
}
