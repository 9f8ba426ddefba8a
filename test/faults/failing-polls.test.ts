import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { VRRP_LIST } from "../../src/api/operations.ts";
import { eventually } from "../support/eventually.ts";
import { startTestExporter, type ExporterUnderTest } from "../support/exporter.ts";
import type { Samples } from "../support/samples.ts";
import { healthy } from "./behaviours.ts";
import { createWorld, http, type Endpoint, type World } from "./endpoints.ts";
import { FAILING_POLLS, type FailingPoll } from "./failing-polls.ts";

const CREDENTIALS = { username: "monitor", password: "canary-9c41" };
const CREDENTIALS_BASE64 = "bW9uaXRvcjpjYW5hcnktOWM0MQ==";
const POLLS = 3;
/** What a busy machine may add to a poll. */
const SLACK_SECONDS = 5;

interface Row extends FailingPoll {
  readonly appliance: string;
  readonly timeoutSeconds: number;
  endpoint: Endpoint | undefined;
}

/** One exporter polls the appliances of all rows, and a healthy one beside them. */
const rows: readonly Row[] = FAILING_POLLS.map((fault, index) => ({
  ...fault,
  appliance: `row-${index}`,
  timeoutSeconds: isSlow(fault) ? 0.7 : 2,
  endpoint: undefined,
}));
let neighbour: Endpoint;
let exporter: ExporterUnderTest;
let samples: Samples;
let polledSeconds: number;

beforeAll(async () => {
  const world = await createWorld();
  for (const row of rows) row.endpoint = await row.open(world);
  neighbour = await http(healthy)(world);
  const startedMs = performance.now();
  exporter = await startTestExporter(setupOf(world));
  await eventually(everyRowIsPolled, { timeoutMs: 40_000, everyMs: 200 });
  polledSeconds = (performance.now() - startedMs) / 1000;
});

afterAll(async () => {
  await exporter.stop();
  await neighbour.stop();
  for (const { endpoint } of rows) await endpoint?.stop();
});

function isSlow({ reason, isSlow: isSaidToBe }: FailingPoll): boolean {
  return reason === "timeout" || isSaidToBe === true;
}

function setupOf({ authority }: World) {
  const appliances = rows.map(({ appliance, endpoint, timeoutSeconds }) => {
    const vrrp = { interval: timeoutSeconds < 1 ? "1s" : "2s", timeout: `${timeoutSeconds * 1000}ms` };
    return { name: appliance, ...endpoint?.appliance, polling: { vrrp } };
  });
  const vrrp = { interval: "1s", timeout: "1s" };
  return {
    config: {
      http_client: { basic_auth: CREDENTIALS, tls_config: { ca_file: "ca.pem" } },
      appliances: [...appliances, { name: "neighbour", ...neighbour.appliance, polling: { vrrp } }],
    },
    files: { "ca.pem": authority.cert },
  };
}

async function everyRowIsPolled(): Promise<void> {
  samples = await exporter.scrape();
  const polls = rows.map(({ appliance }) => samples.value("appliance_polls_total", { appliance }) ?? 0);
  expect(Math.min(...polls)).toBeGreaterThanOrEqual(POLLS);
}

describe.each(rows.map((row) => [`fault ${row.fault}: ${row.name}`, row] as const))("%s", (_, row) => {
  const { appliance, reason, detail, timeoutSeconds } = row;

  it("fails with one reason, without values", () => {
    expect(samples.value("appliance_up", { appliance })).toBe(0);
    expect(samples.value("appliance_poll_success", { appliance })).toBe(0);
    const failures = samples.all("appliance_poll_failure_info", { appliance });
    expect(failures.map(({ labels }) => labels["reason"])).toEqual([reason]);
    expect(samples.linesOf(appliance, "vrrp_")).toEqual([]);
    expect(samples.linesOf(appliance, "appliance_api_")).toEqual([]);
    expect(samples.linesOf(appliance, "appliance_last_success_")).toEqual([]);
  });

  it("ends in time", () => {
    const seconds = samples.value("appliance_poll_duration_seconds", { appliance });
    expect(seconds).toBeLessThan(timeoutSeconds + 0.1 + SLACK_SECONDS);
    // A timer may fire a millisecond early by the clock that measures.
    expect(seconds).toBeGreaterThan(isSlow(row) ? timeoutSeconds - 0.01 : 0);
  });

  it("is told once, with its detail", () => {
    const told = exporter.log.lines.filter((line) => line.appliance === appliance && line.level !== "debug");
    const [line, ...others] = told;
    expect(others).toEqual([]);
    expect(line).toMatchObject({ level: "warn", operation: "vrrp", reason, msg: "polling fails" });
    expect(line?.detail).toMatch(typeof detail === "string" ? exactly(detail) : detail);
  });

  it("leaves no connection behind and asks for nothing else", async () => {
    await eventually(() => expect(row.endpoint?.openConnections()).toBeLessThanOrEqual(1));
    const paths = new Set(row.endpoint?.server?.requests.map(({ path }) => path));
    const isNeverAsked = reason === "tls" || reason === "proxy" || paths.size === 0;
    expect([...paths]).toEqual(isNeverAsked ? [] : [VRRP_LIST.path]);
  });
});

describe.each(rows.filter(({ maxBytesPerPoll }) => maxBytesPerPoll !== undefined))("fault $fault", (row) => {
  it(`takes in a bounded part of ${row.name}`, () => {
    const { server } = row.endpoint ?? {};
    const bytesPerPoll = (server?.bytesSent() ?? Number.NaN) / (server?.connections() ?? 0);
    expect(bytesPerPoll).toBeLessThan(row.maxBytesPerPoll ?? 0);
  });
});

describe("beside all of these", () => {
  it("a healthy neighbour is polled in time", () => {
    const appliance = "neighbour";
    expect(samples.value("appliance_up", { appliance })).toBe(1);
    expect(samples.value("vrrp_is_master", { appliance })).toBe(1);
    expect(samples.value("appliance_poll_failures_total", { appliance })).toBe(0);
    // The first second may pass before the first poll, and the last one is under way.
    expect(samples.value("appliance_polls_total", { appliance })).toBeGreaterThanOrEqual(
      Math.floor(polledSeconds) - 2,
    );
  });

  it("no secret is printed", () => {
    for (const text of [exporter.log.text(), samples.text]) {
      expect(text).not.toContain(CREDENTIALS.password);
      expect(text).not.toContain(CREDENTIALS_BASE64);
    }
    expect(neighbour.server?.requests[0]?.head).toContain(`authorization: Basic ${CREDENTIALS_BASE64}`);
  });

  it("nothing is left when the exporter has stopped", async () => {
    await exporter.stop();
    await eventually(() => {
      const open = rows.map(({ endpoint }) => endpoint?.openConnections() ?? 0);
      expect(open.filter((count) => count > 0)).toEqual([]);
    });
  });
});

function exactly(text: string): RegExp {
  return new RegExp(`^${text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}$`);
}
