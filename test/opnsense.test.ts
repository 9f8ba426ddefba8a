import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:https";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { parse } from "yaml";
import type { DrillReport } from "../src/operator/drill-report.ts";
import type { LocalVrrpInterface } from "../src/appliance/encode.ts";
import { loadApplianceConfig } from "../src/appliance/config.ts";
import { recordingSchema, replayOf } from "../src/appliance/replay.ts";
import type { LocalCarp } from "../src/appliance/vrrp-encoders.ts";
import type { FleetDocument } from "../src/exporter/document/schema.ts";
import { runProgram } from "../src/program/program.ts";
import { AUTHORITY, listen, query, startAppliance } from "./appliance/support.ts";
import { createFolder } from "./exporter/config/folder.ts";
import { HASH } from "./exporter/web/support.ts";
import { eventually } from "./support/eventually.ts";
import { startTestExporter } from "./support/exporter.ts";
import { createTestIo } from "./support/io.ts";

// A drill takes as long as its steps.
vi.setConfig({ testTimeout: 90_000 });

const VIP_STATUS = "/api/diagnostics/interface/get_vip_status";
const NO_CARP: LocalCarp = { demotion: 0, allow: true, maintenancemode: false };
const MAINTENANCE: LocalCarp = { demotion: 240, allow: true, maintenancemode: true };

/** The states of VHID 1 on LAN, and of VHID 1 on WAN. */
type States = readonly [string, string];

const MASTER: States = ["MASTER", "MASTER"];
const BACKUP: States = ["BACKUP", "BACKUP"];

/** A simulated firewall: what the test changes is what the next answer says. */
interface Firewall {
  readonly baseUrl: string;
  states: () => States;
  carp: () => LocalCarp;
  /** A body in place of its answer. */
  raw: string | undefined;
}

const INTERFACE = { netmask: "", peer: "", type: "2" };
const LAN = { device: "LAN", vhid: 1, vip: "192.0.2.1", alias: ["192.0.2.9"] };
const WAN = { device: "WAN", vhid: 1, vip: "198.51.100.1", alias: [] };

async function startFirewall(priority: number, states: () => States): Promise<Firewall> {
  const said: Omit<Firewall, "baseUrl"> = { states, carp: () => NO_CARP, raw: undefined };
  const vrrp = async () => {
    const interfaces = [LAN, WAN].map((each, nth): LocalVrrpInterface => ({
      ...INTERFACE,
      ...each,
      name: each.device,
      state: said.states()[nth] ?? "",
      priority,
    }));
    return { ok: true, interfaces, carp: said.carp() } as const;
  };
  // The replay is looked up at each request.
  const replay = {
    has: () => said.raw !== undefined,
    get: () => ({ status: 200, contentType: "application/json", body: said.raw ?? "" }),
  };
  const { port } = await startAppliance({ kind: "opnsense", vrrp, hasWebsiteList: false, replay });
  return Object.assign(said, { baseUrl: `https://127.0.0.1:${port}` });
}

const CLIENT = {
  basic_auth: { username: "monitor", password: "pass:word" },
  tls_config: { ca_file: "ca.pem" },
};

function configOf(one: Pick<Firewall, "baseUrl">, other: Pick<Firewall, "baseUrl">) {
  return {
    kind: "opnsense",
    polling: { vrrp: { interval: "1s" } },
    http_client: CLIENT,
    clusters: [
      {
        name: "fw",
        appliances: [
          { name: "a", base_url: one.baseUrl },
          { name: "b", base_url: other.baseUrl },
        ],
      },
    ],
  };
}

const OPERATOR = { http_client: { basic_auth: { username: "alice", password: "correct horse" } } };
const OPERATOR_HEADERS = { authorization: `Basic ${Buffer.from("alice:correct horse").toString("base64")}` };

/** The groups while all is well. */
const masteredBy = (master: string) => [
  ["192.0.2.1", "one_master", master],
  ["198.51.100.1", "one_master", master],
];

async function startPair() {
  const a = await startFirewall(254, () => MASTER);
  const b = await startFirewall(154, () => BACKUP);
  const files = { "ca.pem": AUTHORITY.cert };
  const web = `basic_auth_users: { alice: $2y$${HASH} }`;
  const exporter = await startTestExporter({ config: configOf(a, b), files, web, journal: "journal" });
  const folder = await createFolder({ "operator.yaml": JSON.stringify(OPERATOR) });
  onTestFinished(exporter.stop);
  const document = async (): Promise<FleetDocument> =>
    JSON.parse(await (await fetch(`${exporter.url}/api/v1/fleet`, { headers: OPERATOR_HEADERS })).text());
  const groups = async () =>
    (await document()).clusters[0]?.groups.map(({ vip, state, master }) => [vip, state, master]);
  const run = async (...argv: readonly string[]) => {
    const { io, printed } = await createTestIo();
    const access = [`--url=${exporter.url}`, `--http.config.file=${join(folder, "operator.yaml")}`];
    return { code: await runProgram([...argv, ...access], io), ...printed };
  };
  await eventually(async () => expect(await groups()).toEqual(masteredBy("a")));
  return { a, b, exporter, document, groups, run };
}

test("a pair of firewalls is judged as any other: gauges, states, readiness, failovers, split brain", async () => {
  const { a, b, exporter, document, groups, run } = await startPair();
  const samples = await exporter.scrape(OPERATOR_HEADERS);
  const inLan = { appliance: "a", interface: "LAN/1", vhid: "1", vip: "192.0.2.1" };
  expect(samples.value("vrrp_is_master", inLan)).toBe(1);
  expect(samples.value("vrrp_priority", inLan)).toBe(254);
  expect(samples.value("vrrp_aliases", inLan)).toBe(1);
  expect(samples.value("carp_demotion", { appliance: "b" })).toBe(0);
  expect(await run("ready", "a")).toMatchObject({
    code: 0,
    out: expect.stringContaining("If a fails, b takes over 3 addresses"),
  });
  expect((await document()).verdict).toBe("well");

  b.carp = () => MAINTENANCE;
  await eventually(async () =>
    expect(await run("ready", "a")).toMatchObject({
      code: 1,
      out: expect.stringContaining(
        "b does not take over 192.0.2.1 (vhid 1) with 1 more address and 198.51.100.1 (vhid 1): it is in maintenance mode",
      ),
    }),
  );
  const demoted = await exporter.scrape(OPERATOR_HEADERS);
  expect(demoted.value("carp_demotion", { appliance: "b" })).toBe(240);
  expect(demoted.value("vrrp_priority", { appliance: "b" })).toBeUndefined();
  expect(demoted.value("vrrp_group_preferred_master", { vip: "192.0.2.1" })).toBeUndefined();
  b.carp = () => NO_CARP;

  // In maintenance mode, a demotes itself and hands over.
  a.carp = () => MAINTENANCE;
  [a.states, b.states] = [() => BACKUP, () => MASTER];
  await eventually(async () => expect(await groups()).toEqual(masteredBy("b")));
  const [failover] = (await document()).incidents;
  expect(failover).toMatchObject({
    kind: "failover",
    summary: expect.stringContaining("from a, which stepped down"),
  });

  a.states = () => ["MASTER", "INIT"];
  await eventually(async () =>
    expect((await groups())?.[0]).toEqual(["192.0.2.1", "split_brain", undefined]),
  );
  expect((await document()).problems.map(({ kind }) => kind)).toContain("split_brain");
  expect((await run("status")).code).not.toBe(0);
  a.states = () => ["DISABLED", "DISABLED"];
  await eventually(async () =>
    expect(await groups()).toEqual([
      ["192.0.2.1", "no_backup", "b"],
      ["198.51.100.1", "no_backup", "b"],
    ]),
  );
  const status = await fetch(`${exporter.url}/`, { headers: OPERATOR_HEADERS });
  expect(await status.text()).toContain("DISABLED");
});

test("a drill by maintenance mode passes, and its failover is in the history", async () => {
  const { a, b, run, exporter } = await startPair();
  const mark = join(await createFolder({}), "handed-over");
  a.states = () => (existsSync(mark) ? BACKUP : MASTER);
  b.states = () => (existsSync(mark) ? MASTER : BACKUP);
  a.carp = () => (existsSync(mark) ? MAINTENANCE : NO_CARP);
  const { code, out } = await run("drill", "a", "--output=json", `--command=echo > ${mark}`);
  const report: DrillReport = JSON.parse(out);
  expect({ code, verdict: report.verdict }).toEqual({ code: 0, verdict: "pass" });
  expect(report.failovers).toMatchObject([{ from: "a", to: "b" }]);
  expect(
    await (await fetch(`${exporter.url}/api/v1/history`, { headers: OPERATOR_HEADERS })).text(),
  ).toContain("failover");
});

const RAW: readonly (readonly [string, number, string, string, string])[] = [
  [
    "HTML of a login page",
    200,
    "<!doctype html><title>Login</title>",
    "decode",
    "what answers is not the management API",
  ],
  [
    "4,097 rows",
    200,
    JSON.stringify({ rows: Array.from({ length: 4097 }, () => ({})) }),
    "too_large",
    "poll --raw",
  ],
  [
    "401",
    401,
    "{}",
    "auth",
    'its permissions on the appliance (the privilege "Interfaces: Virtual IPs: Status")',
  ],
  [
    "403",
    403,
    "{}",
    "auth",
    'its permissions on the appliance (the privilege "Interfaces: Virtual IPs: Status")',
  ],
  [
    "404",
    404,
    "{}",
    "http_status",
    `the exporter adds ${VIP_STATUS}, which releases before OPNsense 25.7 may lack`,
  ],
];

test.each(RAW)("check --live says what to do about %s", async (_, status, body, reason, advice) => {
  const server = createServer(await AUTHORITY.issue(), (_request, response) =>
    response.writeHead(status, { "content-type": "text/html" }).end(body),
  );
  const baseUrl = `https://127.0.0.1:${await listen(server)}`;
  const config = {
    kind: "opnsense",
    http_client: CLIENT,
    appliances: [{ name: "fw", base_url: baseUrl }],
  };
  const folder = await createFolder({ "ca.pem": AUTHORITY.cert, "config.yaml": JSON.stringify(config) });
  const { io, printed } = await createTestIo();
  const code = await runProgram(["check", "--live", `--config.file=${join(folder, "config.yaml")}`], io);
  expect(code).toBe(1);
  expect(printed.out).toContain(reason);
  expect(printed.out).toContain(advice);
});

test("whatever a firewall answers, polling goes on, and its latest state is not shown as known", async () => {
  const { exporter, document, groups, ...pair } = await startPair();
  for (const [, , body, reason] of RAW.slice(0, 2)) {
    pair.b.raw = body;
    await eventually(async () => {
      const member = (await document()).clusters[0]?.appliances.find(({ name }) => name === "b");
      expect(member).toMatchObject({ poll: { state: "failed", reason } });
      expect(member?.interfaces).toBeUndefined();
    });
    const samples = await exporter.scrape(OPERATOR_HEADERS);
    expect(samples.value("vrrp_is_master", { appliance: "b", vip: "192.0.2.1" })).toBeUndefined();
    expect(samples.value("vrrp_is_master", { appliance: "a", vip: "192.0.2.1" })).toBe(1);
  }
  pair.b.raw = undefined;
  await eventually(async () => expect(await groups()).toEqual(masteredBy("a")));
});

test("a mixed cluster is judged by its VRRP groups, and check says that no more is compared", async () => {
  const carp0: LocalVrrpInterface = { ...INTERFACE, ...LAN, name: "carp0", state: "MASTER", priority: 200 };
  const { port } = await startAppliance({ vrrp: async () => ({ ok: true, interfaces: [carp0] }) });
  const b = await startFirewall(154, () => BACKUP);
  const { clusters } = configOf({ baseUrl: `https://127.0.0.1:${port}` }, b);
  const [one, other] = clusters.flatMap(({ appliances }) => appliances);
  const mixed = [{ ...one, kind: "management_api" }, other];
  const config = { kind: "opnsense", http_client: CLIENT, clusters: [{ name: "fw", appliances: mixed }] };
  const folder = await createFolder({ "ca.pem": AUTHORITY.cert, "config.yaml": JSON.stringify(config) });
  const file = `--config.file=${join(folder, "config.yaml")}`;
  const { io, printed } = await createTestIo();
  expect(await runProgram(["check", file], io)).toBe(0);
  expect(printed.err).toContain(
    "warning: clusters have members of several kinds, of which only the VRRP groups are compared: fw (management_api and opnsense)",
  );
  expect(await runProgram(["ready", "a", file], io)).toBe(0);
  expect(printed.out).toContain("If a fails, b takes over 2 addresses");
});

const applianceYaml = (more: string): string => `listen: 127.0.0.1:0
tls: { cert_file: appliance.pem, key_file: appliance.key }
users: [{ username: monitor, password: "pass:word" }]
kind: opnsense
vrrp:
  source: static
  carp: { demotion: 240, maintenancemode: true }
  interfaces:
    lan: { if: LAN, vip: 192.0.2.1, netmask: 255.255.255.0, vhid: 1, priority: 154, state_current: INIT, type: 2, carppeer: 224.0.0.18, alias: [192.0.2.9] }
${more}`;

test("the reference appliance serves OPNsense's answers by its configuration", async () => {
  const { cert, key } = await AUTHORITY.issue();
  const folder = await createFolder({
    "appliance.pem": cert,
    "appliance.key": key,
    "appliance.yaml": applianceYaml(""),
    "websites.yaml": applianceYaml("websites: [{ id: 1, protocol: http, host: shop.example }]"),
    "keys.yaml": applianceYaml("").replace("kind: opnsense\n", ""),
  });
  const loaded = await loadApplianceConfig(join(folder, "appliance.yaml"));
  if (!loaded.ok || loaded.config.vrrp.source !== "static") throw new Error(JSON.stringify(loaded));
  const { kind, hasWebsiteList, vrrp } = loaded.config;
  const { port } = await startAppliance({ kind, hasWebsiteList, vrrp: async () => ({ ok: true, ...vrrp }) });
  const { body } = await query(port, VIP_STATUS);
  const shown = { status: "INIT", status_txt: "INIT", vhid_txt: "1 (freq. 1/0)" };
  expect(JSON.parse(body)).toEqual({
    total: 2,
    rowCount: 2,
    current: 1,
    rows: [
      {
        interface: "LAN",
        vhid: "1",
        advbase: "1",
        advskew: "100",
        subnet: "192.0.2.1",
        ...shown,
        mode: "carp",
      },
      { interface: "LAN", vhid: "1", subnet: "192.0.2.9", ...shown, mode: "ipalias" },
    ],
    carp: { demotion: "240", allow: "1", maintenancemode: true, status_msg: "" },
  });
  for (const path of ["/api/v1/interface/virtual", "/api/v1/website"])
    expect(await query(port, path)).toMatchObject({ status: 404 });
  const errorsOf = async (name: string) => {
    const { ok, ...result } = await loadApplianceConfig(join(folder, name));
    return ok || !("errors" in result) ? [] : result.errors.map(({ path, message }) => `${path}: ${message}`);
  };
  expect(await errorsOf("websites.yaml")).toEqual([
    "websites: expected no websites: appliances of this kind have none",
  ]);
  expect(await errorsOf("keys.yaml")).toEqual(["vrrp.carp: expected this block with kind: opnsense only"]);
});

/** What `poll --record` writes about a firewall. */
async function record(baseUrl: string): Promise<string> {
  const config = {
    kind: "opnsense",
    http_client: CLIENT,
    appliances: [{ name: "fw", base_url: baseUrl }],
  };
  const folder = await createFolder({ "ca.pem": AUTHORITY.cert, "config.yaml": JSON.stringify(config) });
  const { io } = await createTestIo();
  const [configFile, file] = [join(folder, "config.yaml"), join(folder, "r.yaml")];
  const argv = ["poll", "fw", `--config.file=${configFile}`, `--record=${file}`, "--yes"];
  expect(await runProgram(argv, io)).toBe(0);
  return readFile(file, "utf8");
}

test("what a firewall answers is recorded without names, and its replay is polled alike", async () => {
  const { baseUrl } = await startFirewall(254, () => ["MASTER", "WAITING"]);
  const recorded = await record(baseUrl);
  expect(recorded).toContain("kind: opnsense\n");
  expect(recorded).toContain("- unknown_state");
  for (const name of ["LAN", "198.51.100.1", "WAITING"]) expect(recorded).not.toContain(name);
  const replay = replayOf(recordingSchema.parse(parse(recorded)));
  const { port } = await startAppliance({ kind: "opnsense", replay });
  expect(await record(`https://127.0.0.1:${port}`)).toBe(recorded);
});
