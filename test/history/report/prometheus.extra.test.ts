import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startExporter } from "../../../src/exporter/exporter.ts";
import { openHistory } from "../../../src/history/timeline/history.ts";
import type { TimeRange } from "../../../src/history/journal/day-files.ts";
import { availabilityOf, type AvailabilityRow } from "../../../src/history/report/availability.ts";
import { readHistory } from "../../../src/history/report/month-report.ts";
import { lengthOf, overlapOf } from "../../../src/history/report/spans.ts";
import { systemClock } from "../../../src/support/clock.ts";
import { createFolder } from "../../exporter/config/folder.ts";
import { BUILD } from "../../support/build-facts.ts";
import { eventually } from "../../support/eventually.ts";
import { createMemoryLog } from "../../support/exporter.ts";
import { closedPort, portOf } from "../../support/fault-server.ts";
import { startPrometheus, type Series } from "../../support/prometheus-server.ts";

/** How long things change, in all; more by hand. */
const SECONDS = Number(process.env["REPORT_SECONDS"] ?? 30);
const SCRAPE_MS = 250;
const WEBSITES = 6;
const GROUPS = ["192.0.2.101", "192.0.2.102", "192.0.2.103"];
/** As the group has one master, several or none. */
const ROLES = [
  ["MASTER", "BACKUP"],
  ["BACKUP", "MASTER"],
  ["BACKUP", "BACKUP"],
  ["MASTER", "MASTER"],
] as const;

/** What two appliances report; it changes at random instants until the test ends. */
function startChanges() {
  const [roles, statuses] = [GROUPS.map(() => 0), Array.from({ length: WEBSITES }, () => 200)];
  let timer: NodeJS.Timeout | undefined;
  const change = (): void => {
    timer = setTimeout(change, 200 + Math.random() * 1500);
    const [group, website] = [pick(roles.length), pick(statuses.length)];
    if (Math.random() < 0.4) roles[group] = roles[group] === 0 ? pick(ROLES.length) : 0;
    else statuses[website] = statuses[website] === 200 ? 0 : 200;
  };
  change();
  onTestFinished(() => clearTimeout(timer));
  return { roles, statuses };
}

function pick(length: number): number {
  return Math.floor(Math.random() * length);
}

/** Two appliances, the first below `/a`; returns the port. */
async function serveAppliances(): Promise<number> {
  const { roles, statuses } = startChanges();
  const server = createServer(({ url = "" }, response) => {
    const [, name, path = ""] = /^\/([ab])\/api\/v1\/(.*)$/.exec(url) ?? [];
    const [, website] = /^website\/(\d)\/test$/.exec(path) ?? [];
    if (website !== undefined) {
      const status = statuses[Number(website)];
      const line = status === 200 ? "HTTP/1.1 200 OK" : "connection refused";
      return response.end(JSON.stringify(`HTTP CONNECT ----- HTTP\n${line}\n\n`));
    }
    const interfaces = GROUPS.map((vip, nth) => {
      const state = ROLES[roles[nth] ?? 0]?.[name === "a" ? 0 : 1];
      return [
        `carp${nth}`,
        { vhid: String(nth + 1), vip, state_current: state, type: "2", priority: "100", advskew: "0" },
      ];
    });
    return response.end(JSON.stringify(Object.fromEntries(interfaces)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return portOf(server);
}

async function startExporterAt(port: number, folder: string): Promise<() => Promise<void>> {
  const storage = { path: join(folder, "journal"), retentionMs: 86_400_000_000, retentionBytes: 1e9 };
  const common = { version: "0.0.0", clock: systemClock, logger: createMemoryLog().logger };
  const started = await startExporter({
    configFile: join(folder, "config.yaml"),
    listenAddresses: [{ host: "127.0.0.1", port }],
    telemetryPath: "/metrics",
    enableLifecycle: false,
    openHistory: () => openHistory({ storage, ...common }),
    ...common,
    build: BUILD,
    maxLookups: 2,
    maxPasswordReads: 2,
    droppedLogLines: () => 0,
  });
  if (!started.ok) throw new Error(`no start: ${JSON.stringify(started)}`);
  onTestFinished(started.exporter.stop);
  return started.exporter.stop;
}

interface Sample {
  readonly atMs: number;
  readonly state: string | undefined;
}

/** The states of a subject, scrape by scrape. While it changes, that is what it becomes. */
function samplesOf(series: readonly Series[]): readonly Sample[] {
  const samples = series.flatMap(({ labels, values, timesMs }) =>
    timesMs.flatMap((atMs, nth) => (values[nth] === 1 ? [{ atMs, state: labels["state"] }] : [])),
  );
  let next: Sample | undefined;
  const settled = samples
    .toSorted((one, other) => other.atMs - one.atMs)
    .map(({ atMs, state }): Sample => {
      const isNear = next !== undefined && next.atMs - atMs < 4 * SCRAPE_MS;
      next = { atMs, state: state === "changing" ? (isNear ? next?.state : undefined) : state };
      return next;
    });
  return settled.toReversed();
}

const UP = ["one_master", "no_backup", "backup_lost", "backup_unknown", "up", "unstable", "partially_down"];
const DOWN = ["split_brain", "no_master", "down", "down_at_master"];

/** A start writes to the journal within four seconds, or later on a busy machine; what was judged before may remain unknown. */
const LATEST_START_MS = 10_000;

/**
 * By how much the times of a row differ from those of the samples, and by how much they may: by the scrape in which it changes, and by
 * those that do not say what it becomes, as its exporter stops meanwhile.
 */
function differences({ spans, upMs, downMs, unknownMs }: AvailabilityRow, samples: readonly Sample[]) {
  const parts = samples.map(({ atMs, state }, nth) => {
    const range = { fromMs: atMs, toMs: samples[nth + 1]?.atMs ?? atMs + SCRAPE_MS };
    const known = spans.map((span) => overlapOf(span, range)).filter((ms) => ms > 0);
    const changes = state === undefined || known.length > 1 || sum(known) < lengthOf(range);
    return { state: state ?? "", knownMs: sum(known), changes };
  });
  const msOf = (states: readonly string[]): number =>
    sum(parts.flatMap(({ state, knownMs }) => (states.includes(state) ? knownMs : [])));
  return {
    up: Math.abs(upMs - msOf(UP)),
    down: Math.abs(downMs - msOf(DOWN)),
    allowed:
      (upMs + downMs + unknownMs) / 10_000 +
      sum(parts.flatMap(({ changes, knownMs }) => (changes ? knownMs : []))),
    unknown: parts.filter(({ knownMs }) => knownMs === 0).length * SCRAPE_MS,
  };
}

function sum(all: readonly number[]): number {
  return all.reduce((one, other) => one + other, 0);
}

const TIMEOUT_MS = 300_000 + SECONDS * 4000;

test(
  "the report has the times that the samples of a real Prometheus have",
  { timeout: TIMEOUT_MS },
  async () => {
    const fleet = await serveAppliances();
    const port = await closedPort();
    const folder = await createFolder({ "config.yaml": JSON.stringify(configOf(fleet)) });
    const scraping = { job_name: "exporter", static_configs: [{ targets: [`127.0.0.1:${port}`] }] };
    const interval = `${SCRAPE_MS}ms`;
    const prometheus = await startPrometheus({
      global: { scrape_interval: interval, scrape_timeout: interval },
      scrape_configs: [scraping],
    });
    onTestFinished(prometheus.stop);
    const seriesOf = (selector: string) => prometheus.query(`${selector}[${SECONDS + 600}s]`);
    const scraped = async (atLeast: number) => {
      const [up] = await seriesOf("up");
      expect(up?.values.filter((value) => value === 1).length).toBeGreaterThan(atLeast);
    };
    const half = (SECONDS * 1000) / SCRAPE_MS / 2;

    const stop = await startExporterAt(port, folder);
    await eventually(() => scraped(half), { timeoutMs: TIMEOUT_MS, everyMs: 500 });
    await stop();
    // Away for some scrapes.
    await eventually(async () => expect((await prometheus.query("up"))[0]?.values).toEqual([0]), {
      everyMs: 500,
    });
    const stopAgain = await startExporterAt(port, folder);
    await eventually(() => scraped(2 * half), { timeoutMs: TIMEOUT_MS, everyMs: 500 });
    const [groups, websites] = [await seriesOf("vrrp_group_state"), await seriesOf("website_state")];
    await stopAgain();

    const timesMs = [...groups, ...websites].flatMap((each) => each.timesMs);
    const range: TimeRange = { fromMs: Math.min(...timesMs), toMs: Math.max(...timesMs) + SCRAPE_MS };
    const history = await readHistory(join(folder, "journal"), range, { onDay: () => {}, onDamaged: fail });
    const [cluster] = availabilityOf(history, range).clusters;
    const rows = [
      ...(cluster?.groups ?? []).map((row) => {
        return { row, series: groups.filter(({ labels }) => labels["vip"] === row.vip) };
      }),
      ...(cluster?.websites ?? []).map((row) => {
        const isOf = ({ labels }: Series): boolean =>
          labels["website"] === row.name && labels["protocol"] === row.protocol;
        return { row, series: websites.filter(isOf) };
      }),
    ];
    expect(rows.length).toBe(GROUPS.length + WEBSITES);
    const compared = rows.map(({ row, series }) => differences(row, samplesOf(series)));
    const wrong = compared.filter(({ up, down, allowed, unknown }) => {
      return up > allowed || down > allowed || unknown > 2 * LATEST_START_MS;
    });
    expect(wrong).toEqual([]);
  },
);

function fail(path: string, error: unknown): never {
  throw new Error(`${path} is damaged`, { cause: error });
}

function configOf(port: number): object {
  const websites = Array.from({ length: WEBSITES }, (_, id) => ({ id, name: `website-${id}` }));
  const appliances = ["a", "b"].map((name) => {
    return { name, base_url: `http://127.0.0.1:${port}/${name}`, allow_http: true };
  });
  const polling = { vrrp: { interval: "1s" }, websites: { interval: "1s" } };
  return { polling, clusters: [{ name: "ams", websites, appliances }] };
}
