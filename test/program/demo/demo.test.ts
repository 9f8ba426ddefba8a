import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test, vi } from "vitest";
import { loadConfig } from "../../../src/exporter/config/load.ts";
import { samplesOf, startTestDemo } from "./support.ts";

// The demo polls each second, and takes several steps.
vi.setConfig({ testTimeout: 60_000, expect: { poll: { timeout: 45_000 } } });

const mastersOf = (demo: Parameters<typeof samplesOf>[0]) =>
  samplesOf(demo, "vrrp_is_master", "appliance", "interface");

const NAMES = ["demo-a", "demo-b", "demo-c"];
/** A sample for each interface: 1 at these appliances. */
const oneAt = (...names: readonly string[]) =>
  NAMES.flatMap((name) => ["carp0", "carp1"].map((one) => `${name}/${one} ${names.includes(name) ? 1 : 0}`));

test.concurrent("the demo begins well, fails over, and takes a website down and up again; the exporter notices", async ({
  expect,
  onTestFinished,
}) => {
  const demo = await startTestDemo(onTestFinished);
  await expect.poll(() => mastersOf(demo)).toEqual(oneAt("demo-a"));
  await expect.poll(() => samplesOf(demo, "vrrp_group_masters", "vhid")).toEqual(["1 1", "2 1"]);
  await expect
    .poll(() => samplesOf(demo, "website_http_status", "appliance", "website", "protocol"))
    .toEqual(
      NAMES.flatMap((name) =>
        ["blog/http", "shop/https", "portal/http", "portal/https"].map((website) => `${name}/${website} 200`),
      ),
    );
  expect(demo.step()).toBe("failover: demo-a steps down, and demo-b is the master now");
  await expect.poll(() => mastersOf(demo)).toEqual(oneAt("demo-b"));
  await expect
    .poll(() => samplesOf(demo, "vrrp_transitions_total", "appliance", "interface"))
    .toEqual(oneAt("demo-a", "demo-b"));
  await expect.poll(() => samplesOf(demo, "vrrp_group_preferred_master", "vhid")).toEqual(["1 0", "2 0"]);
  const shop = async () => {
    const all = await samplesOf(demo, "website_up", "appliance", "website");
    return all.filter((sample) => sample.includes("/shop "));
  };
  expect(demo.step()).toBe("outage: website shop closes connections without an answer");
  await expect.poll(shop).toEqual(NAMES.map((name) => `${name}/shop 0`));
  expect(demo.step()).toBe("repair: website shop is back");
  await expect.poll(shop).toEqual(NAMES.map((name) => `${name}/shop 1`));
});

test.concurrent("the demo shows a failover that would lose an alias, and one that loses nothing again", async ({
  expect,
  onTestFinished,
}) => {
  const demo = await startTestDemo(onTestFinished);
  const summary = async () => {
    const [cluster] = (await demo.document()).clusters;
    return cluster?.appliances.flatMap(({ failover }) => failover?.summary ?? []);
  };
  const ready = ["If demo-a fails, demo-b takes over 3 addresses and 3 websites"];
  await expect.poll(summary).toEqual(ready);
  const texts = Array.from({ length: 8 }, () => demo.step());
  expect(texts.at(-1)).toBe("risk: demo-b lacks the alias 198.51.100.101, which a failover would lose");
  await expect.poll(summary).toEqual(["If demo-a fails, 198.51.100.101 is missing at demo-b"]);
  expect(demo.step()).toBe("repair: demo-b has the alias 198.51.100.101 again");
  await expect.poll(summary).toEqual(ready);
});

test.concurrent("each failover of the demo has the cause of its step", async ({ expect, onTestFinished }) => {
  const demo = await startTestDemo(onTestFinished);
  await expect.poll(() => mastersOf(demo)).toEqual(oneAt("demo-a"));
  const failovers = async () => (await demo.document()).incidents.flatMap(({ failover }) => failover ?? []);
  for (let seen = 0; seen < 6;) {
    if (!demo.step().startsWith("failover")) continue;
    seen += 1;
    await expect.poll(async () => (await failovers()).length).toBe(seen);
  }
  const causes = (await failovers()).map(({ from, to, cause }) => `${from} ${to} ${cause}`);
  expect(causes.toReversed()).toEqual([
    "demo-a demo-b stepped_down",
    "demo-b demo-c priority",
    "demo-c demo-a fault",
    "demo-a demo-b silent",
    "demo-b demo-c stepped_down",
    "demo-c demo-a preempted",
  ]);
});

test.concurrent("the demo has private files and verifies the appliances' certificates", async ({
  expect,
  onTestFinished,
}) => {
  const demo = await startTestDemo(onTestFinished);
  const folder = dirname(demo.configFile);
  const stats = await Promise.all(["", "config.yaml"].map((name) => stat(join(folder, name))));
  expect(stats.map(({ mode }) => (mode & 0o777).toString(8))).toEqual(["700", "600"]);
  const ca = await readFile(join(folder, "ca.pem"), "utf8");
  const loaded = await loadConfig(demo.configFile);
  if (!loaded.ok) throw new Error("the configuration is invalid");
  expect(loaded.config.appliances.map(({ http: { tls } }) => [tls.ca, tls.insecureSkipVerify])).toEqual(
    NAMES.map(() => [ca, false]),
  );
});
