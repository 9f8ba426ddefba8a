import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { runProgram } from "../../src/program/program.ts";
import type { DrillReport } from "../../src/operator/drill-report.ts";
import { AUTHORITY, CARP0, listen, startAppliance, websiteOf } from "../appliance/support.ts";
import { createFolder } from "../exporter/config/folder.ts";
import { eventually } from "../support/eventually.ts";
import { startTestExporter } from "../support/exporter.ts";
import { createTestIo } from "../support/io.ts";
import { HASH } from "../exporter/web/support.ts";

// A drill takes as long as its steps.
vi.setConfig({ testTimeout: 60_000 });

const OPERATOR = { http_client: { basic_auth: { username: "alice", password: "correct horse" } } };

test("a drill at a real exporter: lists polled every 30 s narrow no time, and the operator is known", async () => {
  const folder = await createFolder({ "operator.yaml": JSON.stringify(OPERATOR) });
  const mark = join(folder, "handed-over");
  const httpPort = await listen(createServer((_, response) => response.end()));
  const websites = [websiteOf({ id: 1, protocol: "http", httpPort })];
  const members = ["a", "b"].map(async (name, nth) => {
    const role = (): object => {
      const isMaster = existsSync(mark) === (name === "b");
      return { state: isMaster ? "MASTER" : "BACKUP", priority: 200 - nth, type: String(nth + 1) };
    };
    const vrrp = async () => ({ ok: true, interfaces: [{ ...CARP0, ...role() }] }) as const;
    const { port } = await startAppliance({ vrrp, websites });
    return { name, base_url: `https://127.0.0.1:${port}` };
  });
  const exporter = await startTestExporter({
    config: {
      polling: { vrrp: { interval: "30s", timeout: "10s" } },
      http_client: {
        basic_auth: { username: "monitor", password: "pass:word" },
        tls_config: { ca_file: "ca.pem" },
      },
      clusters: [{ name: "ams", website_discovery: true, appliances: await Promise.all(members) }],
    },
    files: { "ca.pem": AUTHORITY.cert },
    web: `basic_auth_users: { alice: $2y$${HASH} }`,
  });
  onTestFinished(exporter.stop);
  const run = async (...argv: readonly string[]) => {
    const { io, printed } = await createTestIo();
    const access = [`--url=${exporter.url}`, `--http.config.file=${join(folder, "operator.yaml")}`];
    return { code: await runProgram([...argv, ...access], io), ...printed };
  };
  await eventually(async () => expect(await run("ready", "a")).toMatchObject({ code: 0, err: "" }));
  const { code, out, err } = await run("drill", "a", "--output=json", `--command=echo > ${mark}`);
  expect({ code, err }).toEqual({
    code: 0,
    err: expect.stringContaining("the command ended with exit code 0"),
  });
  const report: DrillReport = JSON.parse(out);
  expect(report).toMatchObject({
    verdict: "pass",
    window: { by: "alice" },
    failovers: [{ from: "a", to: "b" }],
  });
  expect(report.failovers[0]?.withoutMasterAtMostSeconds).toBeLessThan(30);
  const stepAt = (start: string) =>
    Date.parse(report.steps.find(({ text }) => text.startsWith(start))?.at ?? "");
  expect(stepAt("The command began") - stepAt("The window of the drill began")).toBeGreaterThan(1500);
  const fleet = await run("status", "--output=json");
  expect(JSON.parse(fleet.out)).toMatchObject({ planned: [] });
});

test("what the successor loses as it takes over counts from the last test of the former master, and each failover has its own words", async () => {
  const folder = await createFolder({ "operator.yaml": JSON.stringify(OPERATOR) });
  let master = "a";
  let takenOverMs = Number.POSITIVE_INFINITY;
  let lostSeconds = 0;
  /** The tests of the successor as BACKUP. */
  let tests = 0;
  // The successor answers with 503 for three seconds from its takeover on, at least.
  const siteOf = (name: string) =>
    listen(
      createServer((_, response) => {
        const lostMs = name === "b" ? performance.now() - takenOverMs : Number.NEGATIVE_INFINITY;
        if (name === "b" && lostMs < 0) tests += 1;
        if (lostMs >= 3000 && lostSeconds === 0) lostSeconds = lostMs / 1000;
        response.writeHead(lostMs >= 0 && lostMs < 3000 ? 503 : 200).end();
      }),
    );
  const members = ["a", "b"].map(async (name, nth) => {
    const state = () => (master === name ? "MASTER" : "BACKUP");
    const vrrp = async () => {
      return {
        ok: true,
        interfaces: [{ ...CARP0, state: state(), priority: 200 - nth, type: String(nth + 1) }],
      } as const;
    };
    const websites = [websiteOf({ id: 1, protocol: "http", httpPort: await siteOf(name) })];
    const { port } = await startAppliance({ vrrp, websites });
    return { name, base_url: `https://127.0.0.1:${port}` };
  });
  const exporter = await startTestExporter({
    config: {
      polling: { vrrp: { interval: "1s" }, websites: { interval: "1s" } },
      http_client: {
        basic_auth: { username: "monitor", password: "pass:word" },
        tls_config: { ca_file: "ca.pem" },
      },
      clusters: [
        {
          name: "ams",
          websites: [{ id: 1, name: "shop", protocol: "http" }],
          appliances: await Promise.all(members),
        },
      ],
    },
    files: { "ca.pem": AUTHORITY.cert },
    web: `basic_auth_users: { alice: $2y$${HASH} }`,
  });
  onTestFinished(exporter.stop);
  const { io, printed } = await createTestIo();
  const run = (...argv: readonly string[]) =>
    runProgram([...argv, `--url=${exporter.url}`, `--http.config.file=${join(folder, "operator.yaml")}`], io);
  await eventually(async () => expect(await run("ready", "a")).toBe(0));
  printed.out = "";
  const drilled = run("drill", "a", "--both-ways", "--output=json");
  await eventually(() => expect(printed.err).toContain("Now let a fail"));
  const before = tests;
  await eventually(() => expect(tests).toBeGreaterThan(before + 2));
  takenOverMs = performance.now();
  master = "b";
  await eventually(() => expect(lostSeconds).toBeGreaterThan(3));
  await eventually(() => expect(printed.err).toContain("Now make a MASTER again"));
  master = "a";
  expect(await drilled).toBe(1);
  const report: DrillReport = JSON.parse(printed.out);
  const [outage] = report.outages;
  expect(outage).toMatchObject({ website: "shop (http)", isOver: true, isPredicted: false });
  expect(outage?.atMostSeconds).toBeGreaterThanOrEqual(lostSeconds);
  expect(report.failovers.map(({ from, to, nth }) => [from, to, nth])).toEqual([
    ["a", "b", undefined],
    ["b", "a", undefined],
  ]);
  expect(new Set(report.failovers.map(({ summary }) => summary)).size).toBe(2);
  expect(report.watched).toMatchObject({
    groups: [{ masterBefore: "a", masterAfter: "a", isPreferredMaster: true }],
    websites: [{ name: "shop (http)", stateBefore: "up", servedBefore: ["a"], servedAfter: ["a"] }],
  });
  expect(Math.abs(report.clocks?.aheadSeconds ?? 99)).toBeLessThan(2);
});
