import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApplianceServer } from "../../src/appliance/server.ts";
import { createStaticVrrp } from "../../src/appliance/vrrp-static.ts";
import { Secret } from "../../src/support/secret.ts";
import { createAuthority } from "../../src/demo/authority.ts";
import { eventually } from "../support/eventually.ts";
import { portOf } from "../support/fault-server.ts";
import { commands, yamls } from "./commands.ts";
import { arrive, type Newcomer } from "./newcomer.ts";

/** Every command of the README, as it stands there. */
const DEMO = "npm ci && npm run demo";
const TEST = "npm ci && npm test";
const INSTALL = 'npm ci && npm install --global "$(npm pack --silent)"';
const PASSWORD = "mkdir -p secrets && (umask 077 && cat > secrets/monitor)";
const CHECK = "appliance-exporter check --config.file=config.yaml --live";
const POLL = "appliance-exporter poll waf-ams-1 --config.file=config.yaml";
const RUN = "appliance-exporter run --config.file=config.yaml";
const STATUS = "appliance-exporter status";
const RULES = "promtool check rules monitoring/prometheus/*.rules.yml";
const ALERTMANAGER = "amtool check-config monitoring/alertmanager/alertmanager.yml";

/** Those that cannot be tried here, and why. */
const NOT_TRIED = new Map([
  [TEST, "it is what runs this"],
  ["docker build -t appliance-exporter .", "there is no container engine"],
  [
    'docker run -p 10849:10849 -v "$PWD/config:/etc/appliance-exporter:ro" appliance-exporter',
    "there is no container engine",
  ],
]);

const SOON = { timeoutMs: 60_000, everyMs: 100 };
const USER = { username: "monitor", password: new Secret("let me in") };

const CARP0 = {
  name: "carp0",
  device: "eth1",
  vhid: 2,
  vip: "192.0.2.100",
  netmask: "255.255.255.0",
  priority: 204,
  type: "1",
  peer: "224.0.0.18",
  alias: [],
};

/** A reference appliance with a certificate that nobody trusts yet. */
async function startAppliance(state: "MASTER" | "BACKUP", website: number) {
  const { cert, key } = await (await createAuthority()).issue();
  const server = createApplianceServer({
    listen: { host: "127.0.0.1", port: 0 },
    tls: { cert, key: new Secret(key) },
    users: [USER],
    vrrp: createStaticVrrp([{ ...CARP0, state }]),
    websites: [1, 2].map((id) => ({
      id,
      protocol: "http" as const,
      host: "127.0.0.1",
      httpPort: website,
      httpsPort: website,
      path: "/",
    })),
    websiteTest: { timeoutMs: 5000, ca: undefined, insecureSkipVerify: false },
    onBug: (error) => {
      throw error;
    },
  });
  return { port: (await server.start()).port, stop: server.stop };
}

describe("the README, as a newcomer follows it", () => {
  let newcomer: Newcomer;
  let folder: string;
  let config: string;
  const cleanup: (() => unknown)[] = [];

  beforeAll(async () => {
    newcomer = await arrive();
    cleanup.push(newcomer.leave);
    folder = join(newcomer.home, "exporter");
    await mkdir(folder);
    const website = createServer((_, response) => response.end()).listen(0, "127.0.0.1");
    cleanup.push(() => website.close());
    await new Promise((resolve) => website.once("listening", resolve));
    const appliances = [
      await startAppliance("MASTER", portOf(website)),
      await startAppliance("BACKUP", portOf(website)),
    ];
    cleanup.push(...appliances.map(({ stop }) => stop));
    // The addresses alone are other ones here.
    config = (yamls[0] ?? "")
      .replace("192.0.2.11:4849", `127.0.0.1:${appliances[0]?.port}`)
      .replace("192.0.2.12:4849", `127.0.0.1:${appliances[1]?.port}`);
  }, 120_000);

  afterAll(async () => {
    for (const clean of cleanup.toReversed()) await clean();
  });

  it("has these commands, and each is tried below or said why not", () => {
    expect(commands).toEqual([
      DEMO,
      TEST,
      INSTALL,
      PASSWORD,
      CHECK,
      POLL,
      RUN,
      STATUS,
      RULES,
      ALERTMANAGER,
      ...[...NOT_TRIED.keys()].slice(1),
    ]);
  });

  it("shows the demo", { timeout: 300_000 }, async () => {
    const demo = newcomer.start(`${DEMO} -- --web.listen-address=127.0.0.1:0`, newcomer.project);
    const page = await eventually(
      () => {
        const [found] = /http:\/\/127\.0\.0\.1:\d+\/(?=\n)/.exec(demo.text().split("Open:")[1] ?? "") ?? [];
        if (found === undefined) throw new Error(demo.text());
        return found;
      },
      { ...SOON, timeoutMs: 240_000 },
    );
    expect((await fetch(page)).status).toBe(200);
    await demo.interrupt();
    expect(demo.text()).toContain("Stopped; nothing is left behind.");
  });

  it("installs the command", { timeout: 300_000 }, async () => {
    expect(await newcomer.type(INSTALL, newcomer.project)).toMatchObject({ status: 0 });
    expect(await newcomer.type("appliance-exporter --version", folder)).toMatchObject({ status: 0 });
  });

  it("connects appliances: not trusted at first, then by their pins", { timeout: 60_000 }, async () => {
    expect(await newcomer.type(PASSWORD, folder, "let me in\n")).toMatchObject({ status: 0 });
    await writeFile(join(folder, "config.yaml"), config);
    const before = await newcomer.type(CHECK, folder);
    expect(before).toMatchObject({ status: 1, stderr: "" });
    expect(before.stdout).toMatch(/^waf-ams-1 +ams +tls +the certificate is not trusted/m);
    const pins = Array.from(
      before.stdout.matchAll(/^(waf-ams-\d) .* ([0-9a-f]{64}) /gm),
      ([, name, pin]) => ({
        name: String(name),
        pin: String(pin),
      }),
    );
    expect(pins).toHaveLength(2);
    await writeFile(join(folder, "config.yaml"), pins.reduce(pinned, config));
    expect(await newcomer.type(CHECK, folder)).toMatchObject({ status: 0, stderr: "" });
  });

  it("shows what one appliance says", async () => {
    const polled = await newcomer.type(POLL, folder);
    expect(polled).toMatchObject({ status: 0, stderr: "" });
    expect(polled.stdout).toMatch(/^vrrp_is_master\{appliance="waf-ams-1",ha_cluster="ams",.*\} 1$/m);
  });

  it("runs, shows the status, and ends", { timeout: 90_000 }, async () => {
    const running = newcomer.start(`exec ${RUN} --web.listen-address=127.0.0.1:0`, folder);
    const url = await eventually(() => {
      const [, address] = /"addresses":"([^"]+)"/.exec(running.text() ?? "") ?? [];
      if (address === undefined) throw new Error(running.text());
      return `http://${address}`;
    }, SOON);
    const status = await eventually(async () => {
      const shown = await newcomer.type(`${STATUS} --url=${url}`, folder);
      expect(shown).toMatchObject({ status: 0, stderr: "" });
      return shown.stdout;
    }, SOON);
    expect(status).toMatch(/^All is well\.\n/);
    expect(await running.interrupt()).toMatchObject({ status: 0 });
  });

  it("has rules and an example for Alertmanager that their tools accept", async () => {
    expect(await newcomer.type(RULES, newcomer.project)).toMatchObject({ status: 0 });
    expect(await newcomer.type(ALERTMANAGER, newcomer.project)).toMatchObject({ status: 0 });
  });
});

/** The appliance's entry with the pin that the README shows how to write. */
function pinned(text: string, { name, pin }: { readonly name: string; readonly pin: string }): string {
  const settings = /http_client: \{ tls_config: \{ certificate_sha256: \[\w{64}\] \} \}/.exec(
    yamls[1] ?? "",
  )?.[0];
  if (settings === undefined) throw new Error("the README shows no pin");
  const entry = new RegExp(`(name: ${name}, base_url: "[^"]+") \\}`);
  return text.replace(entry, `$1, ${settings.replace(/\w{64}/, pin)} }`);
}
