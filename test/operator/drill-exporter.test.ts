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
