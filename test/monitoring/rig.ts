import { once } from "node:events";
import { createServer } from "node:http";
import type { Demo } from "../../src/program/demo/demo.ts";
import { createCleanup, type Cleanup } from "../support/cleanup.ts";
import { startTestDemo } from "../program/demo/support.ts";
import { startTestExporter, type ExporterUnderTest } from "../support/exporter.ts";
import { portOf } from "../support/fault-server.ts";
import { startPrometheus, type Prometheus } from "../support/prometheus-server.ts";
import { RULES_TEXT } from "./alert-rules.ts";

/** A Prometheus with our rules that scrapes the demo, and two exporters that poll one fleet. */
export interface Rig {
  readonly prometheus: Prometheus;
  readonly demo: Demo;
  readonly first: ExporterUnderTest;
  readonly second: ExporterUnderTest;
  /** Unix time from which on it was scraped. */
  readonly sinceMs: number;
  /** Makes go wrong what was well at the start. */
  breakThings(): void;
  stop(): Promise<void>;
}

/** The first exporter's. */
export const EXTERNAL_URL = "https://exporter.example.org/base";

/** By cluster: the states of its members, of which the first is the preferred master. */
const CLUSTERS: Readonly<Record<string, readonly string[]>> = {
  well: ["MASTER", "BACKUP"],
  split: ["MASTER", "MASTER"],
  headless: ["BACKUP", "BACKUP"],
  bare: ["MASTER", "STOPPED"],
  half: ["MASTER", "BACKUP", "BACKUP"],
  dark: ["MASTER", "BACKUP"],
  swapped: ["MASTER", "BACKUP"],
  locked: ["refuses the password"],
};

/** What the members of the cluster `well` get from each website; `undefined`: they do not test it. */
const WEBSITES: Readonly<Record<string, readonly (number | undefined)[]>> = {
  up: [200, 200],
  down: [0, 0],
  partly: [200, 503],
  never: [undefined, undefined],
};

export async function startRig(): Promise<Rig> {
  const cleanup = createCleanup();
  try {
    const states = new Map<string, string>(
      Object.entries(CLUSTERS).flatMap(([cluster, members]) =>
        members.map((state, index) => [`${cluster}-${index + 1}`, state] as const),
      ),
    );
    const config = configOf(await serveAppliances(states, cleanup));
    const demo = await startTestDemo(cleanup.add);
    const [first, second] = [
      await startTestExporter({ config, externalUrl: EXTERNAL_URL }),
      await startTestExporter({ config }),
    ];
    cleanup.add(first.stop);
    cleanup.add(second.stop);
    const sinceMs = Date.now();
    const targets = [...demo.addresses, `127.0.0.1:${first.port}`, `127.0.0.1:${second.port}`];
    const scraping = {
      global: { scrape_interval: "1s", scrape_timeout: "1s", evaluation_interval: "1s" },
      rule_files: ["appliance-exporter.rules.yml"],
      scrape_configs: [{ job_name: "appliance-exporter", static_configs: [{ targets }] }],
    };
    const prometheus = await startPrometheus(scraping, { "appliance-exporter.rules.yml": RULES_TEXT });
    cleanup.add(prometheus.stop);
    const breakThings = () => {
      for (const name of ["half-2", "dark-1"]) states.delete(name);
      states.set("swapped-1", "BACKUP").set("swapped-2", "MASTER");
    };
    return { prometheus, demo, first, second, sinceMs, breakThings, stop: cleanup.run };
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

/** All appliances in one server, each under its own path. Those without a state do not answer. */
async function serveAppliances(states: ReadonlyMap<string, string>, cleanup: Cleanup): Promise<number> {
  const server = createServer(({ url = "", socket }, response) => {
    const [, name = "", path = ""] = /^\/([\w-]+)\/api\/v1\/(.*)$/.exec(url) ?? [];
    const state = states.get(name);
    if (state === undefined) return void socket.resetAndDestroy();
    const isFirst = name.endsWith("-1");
    if (path === "interface/virtual") {
      if (name.startsWith("locked")) response.statusCode = 401;
      const role = isFirst
        ? { type: "1", priority: "204", advskew: "50" }
        : { type: "2", priority: "154", advskew: "100" };
      return response.end(
        JSON.stringify({ carp0: { vhid: "2", vip: "192.0.2.100", state_current: state, ...role } }),
      );
    }
    const [, id] = /^website\/(\d)\/test$/.exec(path) ?? [];
    const status = Object.values(WEBSITES)[Number(id)]?.[isFirst ? 0 : 1];
    if (status === undefined) response.statusCode = 404;
    const line = status === 0 ? "connection refused" : `HTTP/1.1 ${status} x`;
    return response.end(JSON.stringify(`HTTP CONNECT ----- HTTP\n${line}\n\n`));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanup.add(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return portOf(server);
}

function configOf(port: number): object {
  const websites = Object.keys(WEBSITES).map((name, id) => ({ id, name }));
  return {
    polling: { vrrp: { interval: "2s" }, websites: { interval: "3s" } },
    clusters: Object.entries(CLUSTERS).map(([name, members]) => ({
      name,
      labels: { site: "amsterdam" },
      websites: name === "well" ? websites : [],
      appliances: members.map((_, index) => ({
        name: `${name}-${index + 1}`,
        base_url: `http://127.0.0.1:${port}/${name}-${index + 1}`,
        allow_http: true,
      })),
    })),
  };
}
