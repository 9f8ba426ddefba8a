import { expect, onTestFinished, test } from "vitest";

import { createAuthority } from "./support/certificates.ts";
import { eventually } from "./support/eventually.ts";
import { startTestExporter, type ExporterUnderTest } from "./support/exporter.ts";
import { startFaultServer, type FaultServer } from "./support/fault-server.ts";
import { parseSamples, type Samples } from "./support/samples.ts";

const AUTHORITY = await createAuthority();
const LEAF = await AUTHORITY.issue();

const LIST = (state: string): string =>
  JSON.stringify({ carp0: { vhid: "2", vip: "192.0.2.100", state_current: state } });
const TEST = JSON.stringify("HTTP CONNECT --- HTTP\nHTTP/1.1 200 OK\n\n");

interface Appliance {
  readonly port: number;
  /** Requests for paths that end so. */
  asked(pathEnd: string): number;
  /** Answers, from here on; an answer that is held waits for `release`. */
  answer(pathEnd: string, given: { status?: string; body?: string; isHeld?: boolean }): void;
  release(): void;
  stop(): Promise<void>;
}

const LIST_END = "/interface/virtual";
const TEST_END = "/test";

/** An appliance with one interface that is MASTER, and websites that answer 200, until the test says otherwise. */
async function startAppliance(): Promise<Appliance> {
  const answers = new Map<string, { status?: string; body?: string; isHeld?: boolean }>([
    [LIST_END, { body: LIST("MASTER") }],
    [TEST_END, { body: TEST }],
  ]);
  const held: (() => void)[] = [];
  const server: FaultServer = await startFaultServer(({ socket, onRequest }) => {
    onRequest(({ path }) => {
      const [, given = {}] = [...answers].find(([end]) => path.endsWith(end)) ?? [];
      const { status = "200 OK", body = "", isHeld = false } = given;
      const send = (): void =>
        void socket.write(`HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      if (isHeld) held.push(send);
      else send();
    });
  }, LEAF);
  onTestFinished(server.stop);
  return {
    port: server.port,
    asked: (end) => server.requests.filter(({ path }) => path.endsWith(end)).length,
    answer: (end, given) => void answers.set(end, given),
    release: () => {
      for (const send of held.splice(0)) send();
    },
    stop: server.stop,
  };
}

function entry(name: string, { port }: Appliance, more: Record<string, unknown> = {}): unknown {
  return { name, base_url: `https://127.0.0.1:${port}`, ...more };
}

/** Polled every 100 s, unless the test says otherwise, so that nothing but probes comes in between. */
async function start(
  mode: "scheduled" | "probe",
  config: Record<string, unknown>,
  vrrp: unknown = { interval: "100s", timeout: "5s" },
): Promise<ExporterUnderTest> {
  const polling = { vrrp, websites: { interval: "100s", timeout: "5s" } };
  const exporter = await startTestExporter({
    config: { polling, http_client: { tls_config: { ca_file: "ca.pem" } }, ...config },
    files: { "ca.pem": AUTHORITY.cert },
    pollingMode: mode,
  });
  onTestFinished(exporter.stop);
  return exporter;
}

async function probe(
  { url }: ExporterUnderTest,
  query: string,
  headers: Record<string, string> = {},
): Promise<Samples> {
  const response = await fetch(`${url}/probe?${query}`, { headers });
  expect(response.status).toBe(200);
  return parseSamples(await response.text());
}

const withTimeout = (seconds: number): Record<string, string> => ({
  "X-Prometheus-Scrape-Timeout-Seconds": String(seconds),
});

function groupLines({ text }: Samples): readonly string[] {
  return text.split("\n").filter((line) => line.startsWith("vrrp_group_"));
}

test("a cluster's members are polled now and serve their series alone, their groups included", async () => {
  const [one, two, other] = [await startAppliance(), await startAppliance(), await startAppliance()];
  two.answer(LIST_END, { body: LIST("BACKUP") });
  const exporter = await start("probe", {
    clusters: [{ name: "ams", websites: [7], appliances: [entry("ams-1", one), entry("ams-2", two)] }],
    appliances: [entry("lab", other)],
  });
  const samples = await probe(exporter, "target=ams");
  expect(samples.value("probe_success")).toBe(1);
  expect(samples.value("probe_duration_seconds")).toBeGreaterThan(0);
  expect(samples.value("vrrp_group_masters", { ha_cluster: "ams" })).toBe(1);
  expect(samples.value("vrrp_group_backups", { ha_cluster: "ams" })).toBe(1);
  expect(samples.all("website_up").map(({ labels }) => labels["appliance"])).toEqual(["ams-1", "ams-2"]);
  expect(samples.text).not.toContain("lab");
  expect(samples.text).not.toContain("appliance_exporter_");
  expect(other.asked(LIST_END)).toBe(0);
});

test("an appliance of a cluster is probed without the others, and without groups", async () => {
  const [one, two] = [await startAppliance(), await startAppliance()];
  const exporter = await start("probe", {
    clusters: [{ name: "ams", appliances: [entry("ams-1", one), entry("ams-2", two)] }],
  });
  const samples = await probe(exporter, "target=ams-1");
  expect(samples.all("appliance_up").map(({ labels }) => labels["appliance"])).toEqual(["ams-1"]);
  expect(samples.text).not.toContain("vrrp_group");
  expect(two.asked(LIST_END)).toBe(0);
});

test("a name that is both a cluster's and an appliance's means the cluster", async () => {
  const [one, two] = [await startAppliance(), await startAppliance()];
  const exporter = await start("probe", {
    clusters: [{ name: "ams", appliances: [entry("ams", one), entry("ams-2", two)] }],
  });
  const samples = await probe(exporter, "target=ams");
  expect(samples.all("appliance_up").map(({ labels }) => labels["appliance"])).toEqual(["ams", "ams-2"]);
});

test("a disabled appliance is not probed, and its name is as good as unknown", async () => {
  const one = await startAppliance();
  const exporter = await start("probe", { appliances: [entry("lab", one, { enabled: false })] });
  expect((await fetch(`${exporter.url}/probe?target=lab`)).status).toBe(404);
});

test.each(["scheduled", "probe"] as const)(
  "a cluster with a disabled member has its groups in a probe as on /metrics, and is asked without it (%s)",
  async (mode) => {
    const [one, two] = [await startAppliance(), await startAppliance()];
    const exporter = await start(mode, {
      clusters: [{ name: "ams", appliances: [entry("ams-1", one), entry("ams-2", two, { enabled: false })] }],
    });
    const samples = await probe(exporter, "target=ams");
    expect(samples.value("probe_success")).toBe(1);
    expect(samples.value("vrrp_group_masters", { ha_cluster: "ams" })).toBe(1);
    await eventually(async () => expect(groupLines(await exporter.scrape())).toEqual(groupLines(samples)));
    expect(samples.text).not.toContain("ams-2");
    expect(two.asked(LIST_END)).toBe(0);
  },
);

test("a module is one operation, and serves what is about it alone", async () => {
  const one = await startAppliance();
  const exporter = await start("probe", { appliances: [entry("lab", one, { websites: [7] })] });
  const vrrp = await probe(exporter, "target=lab&module=vrrp");
  expect(one.asked(TEST_END)).toBe(0);
  expect(vrrp.value("vrrp_is_master")).toBe(1);
  expect(vrrp.text).not.toContain("website_test");
  const websites = await probe(exporter, "target=lab&module=websites");
  expect(one.asked(LIST_END)).toBe(1);
  expect(websites.value("website_up")).toBe(1);
  expect(websites.text).not.toMatch(/operation="vrrp"|vrrp_|appliance_up/);
});

test("an appliance that is down gets its website tests unsent, and is asked again by the next probe of them", async () => {
  const one = await startAppliance();
  one.answer(LIST_END, { isHeld: true });
  const timing = { interval: "100s", timeout: "300ms" };
  const exporter = await start("probe", { appliances: [entry("lab", one, { websites: [7] })] }, timing);
  for (const headers of [withTimeout(0.6), {}]) {
    const down = await probe(exporter, "target=lab", headers);
    expect(down.value("probe_success")).toBe(0);
    expect(down.value("appliance_poll_failure_info", { operation: "vrrp", reason: "timeout" })).toBe(1);
    expect(down.value("appliance_poll_failure_info", { website_id: "7", reason: "appliance_down" })).toBe(1);
  }
  expect(one.asked(TEST_END)).toBe(0);
  one.answer(LIST_END, { body: LIST("MASTER") });
  expect((await probe(exporter, "target=lab&module=websites")).value("website_up")).toBe(1);
});

test("probes at once share one poll, and each keeps its own deadline", async () => {
  const one = await startAppliance();
  one.answer(LIST_END, { body: LIST("MASTER"), isHeld: true });
  const exporter = await start("probe", { appliances: [entry("lab", one)] });
  const patient = [probe(exporter, "target=lab", withTimeout(5)), probe(exporter, "target=lab")];
  const hasty = await probe(exporter, "target=lab", withTimeout(0.8));
  expect(hasty.value("appliance_poll_failure_info", { reason: "timeout" })).toBe(1);
  expect(hasty.value("probe_success")).toBe(0);
  // What it gave up still counts for nobody else, and not twice for itself.
  expect(hasty.value("appliance_poll_failures_total", { operation: "vrrp" })).toBe(0);
  one.release();
  for (const samples of await Promise.all(patient)) {
    expect(samples.value("probe_success")).toBe(1);
    expect(samples.value("appliance_polls_total", { operation: "vrrp" })).toBe(1);
  }
  expect(one.asked(LIST_END)).toBe(1);
});

test("no deadline is longer than the configured timeout", async () => {
  const one = await startAppliance();
  one.answer(LIST_END, { isHeld: true });
  const exporter = await start(
    "probe",
    { appliances: [entry("lab", one)] },
    { interval: "100s", timeout: "300ms" },
  );
  // One that waited so long would take longer than the test may.
  const samples = await probe(exporter, "target=lab", withTimeout(3600));
  expect(samples.value("appliance_poll_failure_info", { reason: "timeout" })).toBe(1);
});

test("on schedule a probe joins the poll in flight", async () => {
  const one = await startAppliance();
  one.answer(LIST_END, { body: LIST("MASTER"), isHeld: true });
  const exporter = await start("scheduled", { appliances: [entry("lab", one)] });
  await eventually(() => expect(one.asked(LIST_END)).toBe(1));
  const joined = probe(exporter, "target=lab");
  await probe(exporter, "target=lab", withTimeout(0.6));
  one.release();
  expect((await joined).value("probe_success")).toBe(1);
  expect(one.asked(LIST_END)).toBe(1);
});

test("on schedule a probe leaves the fleet alone, and knows nothing of what was before it", async () => {
  const one = await startAppliance();
  const exporter = await start("scheduled", { appliances: [entry("lab", one)] });
  await eventually(async () => expect((await exporter.scrape()).value("vrrp_is_master")).toBe(1));
  one.answer(LIST_END, { body: LIST("BACKUP") });
  const samples = await probe(exporter, "target=lab");
  expect(samples.value("vrrp_is_master")).toBe(0);
  expect(samples.value("vrrp_transitions_total")).toBe(0);
  const fleet = await exporter.scrape();
  expect(fleet.value("vrrp_is_master")).toBe(1);
  expect(fleet.value("appliance_polls_total")).toBe(1);
});

test("on schedule a probe that fails takes no website of a healthy appliance away", async () => {
  const one = await startAppliance();
  const exporter = await start("scheduled", {
    polling: {
      vrrp: { interval: "100s", timeout: "300ms" },
      websites: { interval: "1s", timeout: "900ms" },
    },
    appliances: [entry("lab", one, { websites: [7] })],
  });
  await eventually(async () => expect((await exporter.scrape()).value("website_up")).toBe(1));
  one.answer(LIST_END, { isHeld: true });
  expect((await probe(exporter, "target=lab")).value("probe_success")).toBe(0);
  const tests = one.asked(TEST_END);
  await eventually(() => expect(one.asked(TEST_END)).toBeGreaterThan(tests + 1));
  expect((await exporter.scrape()).value("website_up")).toBe(1);
});

test("in probe mode nothing is polled by itself, readiness is at once, and only what was probed is served", async () => {
  const [one, two] = [await startAppliance(), await startAppliance()];
  const exporter = await start("probe", { appliances: [entry("one", one), entry("two", two)] });
  expect((await fetch(`${exporter.url}/-/ready`)).status).toBe(200);
  await probe(exporter, "target=one");
  one.answer(LIST_END, { body: LIST("BACKUP") });
  expect((await probe(exporter, "target=one")).value("vrrp_transitions_total")).toBe(1);
  const samples = await exporter.scrape();
  expect(samples.value("vrrp_transitions_total", { appliance: "one" })).toBe(1);
  expect(samples.value("appliance_exporter_appliances")).toBe(2);
  expect(samples.text).not.toContain('appliance="two"');
  expect(two.asked(LIST_END)).toBe(0);
});

test("what probes fed expires as after any poll", async () => {
  const one = await startAppliance();
  const timing = { interval: "1s", timeout: "500ms" };
  const exporter = await start("probe", { appliances: [entry("lab", one)] }, timing);
  await probe(exporter, "target=lab");
  expect((await exporter.scrape()).value("vrrp_is_master")).toBe(1);
  const samples = await eventually(async () => {
    const scraped = await exporter.scrape();
    expect(scraped.value("appliance_up")).toBe(0);
    return scraped;
  });
  expect(samples.value("vrrp_is_master")).toBeUndefined();
  expect(samples.value("appliance_poll_failure_info", { reason: "stalled" })).toBe(1);
  expect(one.asked(LIST_END)).toBe(1);
});

test.each(["scheduled", "probe"] as const)(
  "what rests after a refusal is answered from that, and not sent (%s)",
  async (mode) => {
    const one = await startAppliance();
    one.answer(LIST_END, { status: "401 Unauthorized" });
    const exporter = await start(mode, { appliances: [entry("lab", one, { websites: [7] })] });
    await probe(exporter, "target=lab");
    const asked = one.asked(LIST_END);
    const samples = await probe(exporter, "target=lab");
    expect(samples.value("probe_success")).toBe(0);
    expect(samples.value("appliance_poll_failure_info", { operation: "vrrp", reason: "auth" })).toBe(1);
    expect(one.asked(LIST_END)).toBe(asked);
    expect(one.asked(TEST_END)).toBe(0);
  },
);

test("a Retry-After holds for probes of its operation", async () => {
  const one = await startAppliance();
  one.answer(TEST_END, { status: "503 Busy\r\nRetry-After: 60" });
  const exporter = await start("probe", { appliances: [entry("lab", one, { websites: [7] })] });
  await probe(exporter, "target=lab");
  const samples = await probe(exporter, "target=lab");
  expect(samples.value("appliance_poll_failure_info", { website_id: "7", reason: "http_status" })).toBe(1);
  expect(samples.value("vrrp_is_master")).toBe(1);
  expect([one.asked(LIST_END), one.asked(TEST_END)]).toEqual([2, 1]);
});
