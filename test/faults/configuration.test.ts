import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, vi } from "vitest";
import { eventually } from "../support/eventually.ts";
import { healthy } from "./behaviours.ts";
import { runProgram } from "./program.ts";
import { entry, EVERY_SECOND, test } from "./stage.ts";

// Huge files are loaded with little memory, one after the other.
vi.setConfig({ testTimeout: 150_000 });

/** Invalid configurations with their errors; `undefined`: there is no file. */
const INVALID_CONFIGS: readonly (readonly [text: string | undefined, error: string])[] = [
  ['appliances:\n  - name: "a\n', ":3:1: a quote before this is not closed"],
  [
    "appliances:\n  - { name: a, base_url: 'https://192.0.2.1' }\n  - { name: a, base_url: 'https://192.0.2.2' }\n",
    ":3:7: appliances[1].name: duplicate, also at",
  ],
  [
    "polling: { vrrp: { schedule: '61 * * * * *' } }\nappliances: []\n",
    ":1:20: polling.vrrp.schedule: expected a node-cron expression: 61 is not a second",
  ],
  [
    "appliances:\n  - { name: a, base_url: 'https://monitor:canary@192.0.2.1' }\n",
    ":2:16: appliances[0].base_url: expected an https:// URL with a valid host and port, without credentials, query and fragment",
  ],
  [
    "appliances:\n  - { name: a, base_url: 'https://192.0.2.1'",
    ":2:45: expected } before this: a { above is not closed",
  ],
  [undefined, ": no such file"],
  [`appliances: ${"[".repeat(20_000)}`, ":1:111: expected at most 100 levels"],
];

test.concurrent("fault 27: at the start every error is printed with its position, and the exit code is 1", async ({
  stage,
}) => {
  const config = "pollling: {}\nappliances:\n  - { name: a, base_url: 'https://192.0.2.1', tmeout: 1s }\n";
  expect(await runProgram(await stage.folder({ config }))).toEqual({
    code: 1,
    signal: null,
    stdout: "",
    stderr:
      'config.yaml:1:1: unknown key "pollling"; did you mean "polling"?\nconfig.yaml:3:47: appliances[0]: unknown key; expected name, base_url, allow_http, enabled, labels, websites, website_discovery, polling or http_client\n',
  });
});

test.concurrent("fault 27: a reload with an invalid file logs its error and keeps the old configuration", async ({
  stage,
}) => {
  const server = await stage.server(healthy);
  const config = { polling: { vrrp: EVERY_SECOND }, appliances: [entry("a", server)] };
  const exporter = await stage.exporter({ config });
  for (const [text, error] of INVALID_CONFIGS) {
    if (text === undefined) await rm(join(exporter.folder, "config.yaml"));
    else await exporter.write("config.yaml", text);
    expect(await exporter.reload()).toBe(false);
    expect(exporter.log.lines.map(({ detail }) => detail)).toContainEqual(expect.stringContaining(error));
    const samples = await exporter.scrape();
    expect(samples.value("appliance_exporter_config_last_reload_successful")).toBe(0);
    expect(samples.value("appliance_exporter_appliances")).toBe(1);
  }
  const before = server.requests.length;
  await eventually(() => expect(server.requests.length).toBeGreaterThanOrEqual(before + 2));
  expect(exporter.log.text()).not.toContain("canary");
  await exporter.write("config.yaml", JSON.stringify(config));
  expect(await exporter.reload()).toBe(true);
  expect((await exporter.scrape()).value("appliance_exporter_config_last_reload_successful")).toBe(1);
});

const ONE = '  - name: a\n    base_url: "https://h"\n';

/** Files of thousands of mistakes, too large ones, and schedules that node-cron would expand forever or until memory is exhausted. */
const HOSTILE_FILES: readonly string[] = [
  `${repeat(5000, (n) => `k${n}: 1\n`)}appliances: []\n`,
  `appliances:\n  - &a { name: a, base_url: "https://h" }\n${"  - *a\n".repeat(2000)}`,
  "appliances: []\n".repeat(2000),
  `appliances:\n${ONE}    labels:\n${repeat(2000, (n) => `      1${n}: x\n`)}`,
  `config_files: [${repeat(500, (n) => `none${n}, `)}]\n`,
  "]".repeat(2000),
  "---\n".repeat(2000),
  `clusters:\n  - name: c\n    appliances:\n${repeat(1000, (n) => `      - { name: a${n}, base_url: "https://h" }\n`)}`,
  'polling: { vrrp: { schedule: "0-999999999 * * * * *" } }\nappliances: []\n',
  // More than fits into the memory of the thread that loads it.
  `appliances: [${"1,".repeat(1_000_000)}`,
];

function repeat(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => line(index)).join("");
}

test.concurrent("fault 48: a reload with a hostile or huge file: the old configuration stays, 100 errors at most, polling goes on", async ({
  stage,
}) => {
  const server = await stage.server(healthy);
  const config = { polling: { vrrp: EVERY_SECOND }, appliances: [entry("a", server)] };
  const env = { NODE_OPTIONS: "--max-old-space-size=64" };
  const program = await stage.program({ config }, { env });
  const errorLines = () => program.log().filter(({ level }) => level === "error");
  const failures = () =>
    errorLines().filter(({ msg }) => msg === "reload failed, the old configuration stays");
  for (const [index, text] of HOSTILE_FILES.entries()) {
    const before = errorLines().length;
    await writeFile(join(program.folder, "config.yaml"), text);
    program.kill("SIGHUP");
    await eventually(() => expect(failures().length).toBeGreaterThan(index));
    expect(errorLines().length - before).toBeLessThanOrEqual(102);
  }
  const tooLarge = expect.stringMatching(/config\.yaml: cannot be loaded: /);
  // The watch may have loaded a file once more.
  await eventually(() => expect(errorLines().map(({ detail }) => detail)).toContainEqual(tooLarge));
  const counted = expect.stringMatching(/: \d{4} more errors$/);
  expect(errorLines().map(({ detail }) => detail)).toContainEqual(counted);
  const polled = server.requests.length;
  await eventually(() => expect(server.requests.length).toBeGreaterThanOrEqual(polled + 2));
  const samples = await program.scrape();
  expect(samples.value("appliance_exporter_config_last_reload_successful")).toBe(0);
  expect(samples.value("appliance_exporter_appliances")).toBe(1);
});

test.concurrent("fault 49: one address in two clusters is a warning in the log, at the start and at each reload", async ({
  stage,
}) => {
  const server = await stage.server(healthy);
  const appliances = [entry("a", server), entry("b", server)];
  const exporter = await stage.exporter({ config: { polling: { vrrp: EVERY_SECOND }, appliances } });
  const warnings = () => exporter.log.lines.filter(({ level }) => level === "warn");
  const warning = expect.objectContaining({
    addresses: 1,
    detail: `http://127.0.0.1:${server.port} (a and b)`,
    msg: "several appliances have the same address",
  });
  expect(warnings()).toEqual([warning]);
  expect(await exporter.reload()).toBe(true);
  expect(warnings()).toEqual([warning, warning]);
});
