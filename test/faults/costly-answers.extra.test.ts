import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { fleetDocumentSchema } from "../../src/status/schema.ts";
import { eventually } from "../support/eventually.ts";
import type { ExporterUnderTest } from "../support/exporter.ts";
import type { Behaviour } from "../support/fault-server.ts";
import type { Samples } from "../support/samples.ts";
import { answer, LIST } from "./behaviours.ts";
import type { Program } from "./program.ts";
import { entry, EVERY_SECOND, test, type Stage } from "./stage.ts";
import { endChild } from "../support/child.ts";

const APPLIANCES = fileURLToPath(new URL("hostile-appliances.ts", import.meta.url));
const HOSTILE = ["0", "1", "2", "3", "4", "5", "6", "7"];
const HEALTHY = ["healthy-0", "healthy-1"];
const HEAP_MB = 128;
/** The seven kinds of body that cost most were answered then, each twice. */
const POLLS = 14;

async function startHostileAppliances(stage: Stage): Promise<number> {
  const child = fork(APPLIANCES, { execArgv: ["--import", import.meta.resolve("tsx")] });
  stage.cleanUp(() => endChild(child));
  const [port]: number[] = await once(child, "message");
  return port ?? 0;
}

function polls(samples: Samples, appliance: string): number {
  return samples.value("appliance_polls_total", { appliance, operation: "vrrp" }) ?? 0;
}

async function expectPages({ url }: Pick<Program, "url">): Promise<void> {
  for (const path of ["/", "/api/v1/fleet"]) {
    const response = await fetch(url + path, { signal: AbortSignal.timeout(60_000) });
    expect(response.status).toBe(200);
    expect((await response.text()).length).toBeGreaterThan(1000);
  }
}

const FLAPPING = 1024;

/** The same interfaces in the other state at each request. */
const flaps: Behaviour = ({ socket, onRequest }) =>
  onRequest((_, nth) => {
    const member = { vhid: "1", vip: "192.0.2.1", state_current: nth % 2 === 0 ? "MASTER" : "BACKUP" };
    const members = Array.from({ length: FLAPPING }, (__, index) => [`carp${index}`, member]);
    socket.write(answer(JSON.stringify(Object.fromEntries(members))));
  });

async function summariesOf({ url }: ExporterUnderTest): Promise<readonly string[]> {
  const response = await fetch(`${url}/api/v1/fleet`);
  return fleetDocumentSchema.parse(await response.json()).events.map(({ summary }) => summary);
}

/** Repeats the password in every text. */
const echoes: Behaviour = ({ socket, onRequest }) =>
  onRequest(() => {
    const echo = LIST.replace(/"(eth1|255.255.255.0|224.0.0.18)"/g, '"priority"');
    socket.write(answer(`${echo.slice(0, -1)},"\\u0070riority":{"vip":"priority"}}`));
  });

test.concurrent("fault 44: eight appliances that send the worst answers each second: with 128 MB the exporter lives, polls the others, and shows its pages", async ({
  stage,
}) => {
  const server = { port: await startHostileAppliances(stage) };
  const at = (name: string, more: object = {}) => {
    const { base_url, ...rest } = entry(name, server, { ...more });
    return { base_url: `${base_url}/${name}`, ...rest };
  };
  const config = {
    polling: { vrrp: EVERY_SECOND, websites: EVERY_SECOND },
    clusters: [{ name: "hostile", websites: [1], appliances: HOSTILE.map((name) => at(name)) }],
    appliances: HEALTHY.map((name) => at(name)),
  };
  const program = await stage.program(
    { config },
    { env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` } },
  );
  const samples = await eventually(
    async () => {
      expect(program.child.exitCode ?? program.child.signalCode).toBeNull();
      await expectPages(program);
      const scraped = await program.scrape();
      expect(Math.min(...HOSTILE.map((name) => polls(scraped, name)))).toBeGreaterThanOrEqual(POLLS);
      return scraped;
    },
    { timeoutMs: 200_000, everyMs: 500 },
  );
  const most = Math.max(...HOSTILE.map((name) => polls(samples, name)));
  // A machine that is busy with other work skips some, of whichever appliance.
  for (const name of HEALTHY) expect(polls(samples, name)).toBeGreaterThanOrEqual(most / 2);
  await eventually(async () => {
    const scraped = await program.scrape();
    for (const appliance of HEALTHY) expect(scraped.value("appliance_up", { appliance })).toBe(1);
  });
});

test.concurrent("fault 55: 1,024 interfaces that flap: 20 lines a poll and one that counts the rest, and one event that names 100", async ({
  stage,
}) => {
  const server = await stage.server(flaps);
  const config = { polling: { vrrp: EVERY_SECOND }, appliances: [entry("a", server)] };
  const exporter = await stage.exporter({ config });
  await eventually(async () => expect(polls(await exporter.scrape(), "a")).toBeGreaterThanOrEqual(3));
  const lines = exporter.log.lines.filter(({ level }) => level !== "debug").map(({ msg }) => msg);
  const counts = lines.filter((msg) => msg === "more vrrp states changed").length;
  expect(counts).toBeGreaterThanOrEqual(2);
  expect(lines.filter((msg) => msg === "vrrp state changed").length).toBe(20 * counts);
  expect(exporter.log.text()).toContain('"appliance":"a","count":1004,"msg":"more vrrp states changed"');
  const summaries = await summariesOf(exporter);
  expect(summaries.length).toBeGreaterThanOrEqual(2);
  expect(summaries.filter((summary) => !summary.endsWith(" and 924 more"))).toEqual([]);
});

test.concurrent("fault 54: a password that is the name of a field: no field is lost, and every echo of it is replaced", async ({
  stage,
}) => {
  const server = await stage.server(echoes);
  const basic_auth = { username: "monitor", password: "priority" };
  const config = {
    polling: { vrrp: EVERY_SECOND },
    appliances: [entry("a", server, { http_client: { basic_auth } })],
  };
  const exporter = await stage.exporter({ config });
  const samples = await eventually(async () => {
    const scraped = await exporter.scrape();
    expect(scraped.value("appliance_up")).toBe(1);
    return scraped;
  });
  const carp0 = 'appliance="a",ha_cluster="a",interface="carp0",vhid="2",vip="192.0.2.100"';
  expect([...samples.linesOf("a", "vrrp_priority"), ...samples.linesOf("a", "vrrp_interface_info")]).toEqual([
    `vrrp_priority{${carp0}} 204`,
    `vrrp_interface_info{${carp0},device="<secret>",netmask="<secret>",peer="<secret>",configured_role="master"} 1`,
  ]);
  const pages = await Promise.all(
    ["/", "/api/v1/fleet"].map(async (path) => (await fetch(exporter.url + path)).text()),
  );
  const texts = [exporter.log.text(), ...pages.map((page) => page.replaceAll(/"?priority"?[: ]/g, ""))];
  expect(exporter.log.text()).toContain('bad_interface at $[\\"<secret>\\"]');
  for (const text of texts) expect(text).not.toContain("priority");
});
