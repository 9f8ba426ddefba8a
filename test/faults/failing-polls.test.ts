import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { VRRP_LIST } from "../../src/exporter/api/vrrp-list.ts";
import { eventually } from "../support/eventually.ts";
import { startTestExporter, type ExporterUnderTest } from "../support/exporter.ts";
import type { Samples } from "../support/samples.ts";
import { watchLoopDelay } from "../support/loop-delay.ts";
import { healthy } from "./behaviours.ts";
import { createWorld, http, type Endpoint, type World } from "./endpoints.ts";
import { DEADLINE, FAILING_POLLS, type FailingPoll } from "./failing-polls.ts";
import { pollTimes, RARELY } from "../support/poll-times.ts";

// Polls of all rows wait for their deadlines, before the tests.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const CREDENTIALS = { username: "monitor", password: "canary-9c41" };
const CREDENTIALS_BASE64 = "bW9uaXRvcjpjYW5hcnktOWM0MQ==";
/** How long polls take whose deadline ends them. */
const SLOW_TIMEOUT_SECONDS = 3;
const POLLS = 2;

interface Row extends FailingPoll {
  readonly appliance: string;
  endpoint: Endpoint | undefined;
}

/** An exporter that polls the appliances of some rows, and a healthy one beside them. */
interface Polled {
  readonly exporter: ExporterUnderTest;
  /** After at least `POLLS` polls of each. */
  readonly samples: Samples;
}

const rows: readonly Row[] = FAILING_POLLS.map((fault, index) => {
  return { ...fault, appliance: `row-${index}`, endpoint: undefined };
});
let neighbour: Endpoint;
let quick: Polled;
/** Those that wait for their deadlines, which others must not come near to however busy the machine. */
let slow: Polled;
let longestDelayMs: number;

beforeAll(async () => {
  const world = await createWorld();
  for (const row of rows) row.endpoint = await row.open(world);
  neighbour = await http(healthy)(world);
  quick = await poll(
    world,
    rows.filter((row) => !isSlow(row)),
    RARELY,
  );
  const loopDelayMs = watchLoopDelay();
  slow = await poll(world, rows.filter(isSlow), { ...RARELY, timeout: `${SLOW_TIMEOUT_SECONDS}s` });
  longestDelayMs = await loopDelayMs();
});

afterAll(async () => {
  for (const { exporter } of [quick, slow]) await exporter.stop();
  await neighbour.stop();
  for (const { endpoint } of rows) await endpoint?.stop();
});

function isSlow({ detail }: FailingPoll): boolean {
  return typeof detail === "string" && detail.startsWith(DEADLINE);
}

function polled(row: Row): Polled {
  return isSlow(row) ? slow : quick;
}

async function poll({ authority }: World, some: readonly Row[], vrrp: unknown): Promise<Polled> {
  const appliances = some.map(({ appliance, endpoint }) => ({ name: appliance, ...endpoint?.appliance }));
  const exporter = await startTestExporter({
    config: {
      polling: { vrrp },
      http_client: { basic_auth: CREDENTIALS, tls_config: { ca_file: "ca.pem" } },
      appliances: [...appliances, { name: "neighbour", ...neighbour.appliance, polling: { vrrp: RARELY } }],
    },
    files: { "ca.pem": authority.cert },
  });
  const names = ["neighbour", ...some.map(({ appliance }) => appliance)];
  return { exporter, samples: await pollTimes(exporter, { appliances: names, times: POLLS }) };
}

describe.each(rows.map((row) => [`fault ${row.fault}: ${row.name}`, row] as const))("%s", (_, row) => {
  const { appliance, reason, detail } = row;

  it("fails with one reason, without values", () => {
    const { samples } = polled(row);
    expect(samples.value("appliance_up", { appliance })).toBe(0);
    expect(samples.value("appliance_poll_success", { appliance })).toBe(0);
    const failures = samples.all("appliance_poll_failure_info", { appliance });
    expect(failures.map(({ labels }) => labels["reason"])).toEqual([reason]);
    expect(samples.linesOf(appliance, "vrrp_")).toEqual([]);
    expect(samples.linesOf(appliance, "appliance_api_")).toEqual([]);
    expect(samples.linesOf(appliance, "appliance_last_success_")).toEqual([]);
  });

  it("ends in time", () => {
    const seconds = polled(row).samples.value("appliance_poll_duration_seconds", { appliance });
    expect(seconds).toBeGreaterThan(0);
    if (!isSlow(row)) return;
    // A timer may fire a millisecond early by the clock that measures.
    expect(seconds).toBeGreaterThan(SLOW_TIMEOUT_SECONDS - 0.01);
    expect(seconds).toBeLessThan(SLOW_TIMEOUT_SECONDS + 0.1 + (3 * longestDelayMs) / 1000);
  });

  it("is told once, with its detail", () => {
    const { lines } = polled(row).exporter.log;
    const told = lines.filter((line) => line.appliance === appliance && line.level !== "debug");
    const [line, ...others] = told;
    expect(others).toEqual([]);
    expect(line).toMatchObject({ level: "warn", operation: "vrrp", reason, msg: "polling fails" });
    expect(line?.detail).toMatch(typeof detail === "string" ? exactly(detail) : detail);
  });

  it("leaves no connection behind and asks for nothing else", async () => {
    await eventually(() => expect(row.endpoint?.openConnections()).toBeLessThanOrEqual(1));
    const paths = new Set(row.endpoint?.server?.requests.map(({ path }) => path));
    const isNeverAsked = reason === "tls" || reason === "proxy" || paths.size === 0;
    expect([...paths]).toEqual(isNeverAsked ? [] : [VRRP_LIST.path()]);
  });

  it("takes in a bounded part of an endless answer", () => {
    const { bytesSent, connections } = row.endpoint?.server ?? { bytesSent: () => 0, connections: () => 1 };
    expect(bytesSent() / Math.max(1, connections())).toBeLessThan(8 * 1024 * 1024);
  });
});

describe("beside all of these", () => {
  it("a healthy neighbour is polled in time", () => {
    const appliance = "neighbour";
    for (const { samples } of [quick, slow]) {
      expect(samples.value("appliance_up", { appliance })).toBe(1);
      expect(samples.value("vrrp_is_master", { appliance })).toBe(1);
      expect(samples.value("appliance_poll_failures_total", { appliance })).toBe(0);
      expect(samples.value("appliance_polls_total", { appliance })).toBeGreaterThanOrEqual(POLLS);
    }
  });

  it("no secret is printed", () => {
    for (const { exporter, samples } of [quick, slow])
      for (const text of [exporter.log.text(), samples.text]) {
        expect(text).not.toContain(CREDENTIALS.password);
        expect(text).not.toContain(CREDENTIALS_BASE64);
      }
    expect(neighbour.server?.requests[0]?.head).toContain(`authorization: Basic ${CREDENTIALS_BASE64}`);
  });

  it("nothing is left when the exporter has stopped", async () => {
    for (const { exporter } of [quick, slow]) await exporter.stop();
    await eventually(() => {
      const open = rows.map(({ endpoint }) => endpoint?.openConnections() ?? 0);
      expect(open.filter((count) => count > 0)).toEqual([]);
    });
  });
});

function exactly(text: string): RegExp {
  return new RegExp(`^${text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}$`);
}
