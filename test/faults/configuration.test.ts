import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import { healthy } from "./behaviours.ts";
import { HOSTILE_FILES } from "./hostile-files.ts";
import { runProgram, type Program } from "./program.ts";
import { entry, EVERY_SECOND, test } from "./stage.ts";

interface InvalidConfig {
  readonly name: string;
  /** `undefined`: there is no file. */
  readonly text: string | undefined;
  /** The whole error output, with the depth that exhausts the stack as COLUMN. */
  readonly output: string;
}

const INVALID_CONFIGS: readonly InvalidConfig[] = [
  {
    name: "invalid syntax",
    text: 'appliances:\n  - name: "a\n',
    output: 'config.yaml:3:1: Missing closing "quote\n',
  },
  {
    name: "unknown keys",
    text: "pollling: {}\nappliances:\n  - { name: a, base_url: 'https://192.0.2.1', tmeout: 1s }\n",
    output:
      'config.yaml:1:1: unknown key "pollling"; did you mean "polling"?\nconfig.yaml:3:47: appliances[0]: unknown key "tmeout"\n',
  },
  {
    name: "a duplicate name",
    text: "appliances:\n  - { name: a, base_url: 'https://192.0.2.1' }\n  - { name: a, base_url: 'https://192.0.2.2' }\n",
    output: 'config.yaml:3:7: appliances[1].name: duplicate name "a", also at config.yaml:2:7\n',
  },
  {
    name: "an invalid schedule",
    text: "polling: { vrrp: { schedule: '61 * * * * *' } }\nappliances: []\n",
    output:
      "config.yaml:1:20: polling.vrrp.schedule: expected a node-cron expression: 61 is an invalid expression for second\n",
  },
  {
    name: "credentials in a URL",
    text: "appliances:\n  - { name: a, base_url: 'https://monitor:canary@192.0.2.1' }\n",
    output:
      "config.yaml:2:16: appliances[0].base_url: expected a URL without credentials; they belong in basic_auth\n",
  },
  {
    name: "a half-written file",
    text: "appliances:\n  - { name: a, base_url: 'https://192.0.2.1'",
    output: "config.yaml:2:45: Flow map in block collection must be sufficiently indented and end with a }\n",
  },
  { name: "no file", text: undefined, output: "config.yaml: no such file\n" },
  {
    name: "20,000 nested brackets",
    text: `appliances: ${"[".repeat(20_000)}`,
    output: "config.yaml:1:COLUMN: nested too deeply\n",
  },
  {
    name: "an alias bomb",
    text: aliasBomb(),
    output: "config.yaml:7:47: more than 1000000 values, with aliases expanded\n",
  },
];

/** Each line expands to ten of the line before it. */
function aliasBomb(): string {
  const lines = Array.from(
    { length: 9 },
    (_, nth) => `  l${nth + 1}: &l${nth + 1} [${Array(10).fill(`*l${nth}`).join(", ")}]`,
  );
  return `labels:\n  l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n${lines.join("\n")}\nappliances: []\n`;
}

for (const { name, text, output } of INVALID_CONFIGS) {
  test.concurrent(`fault 27: ${name}: every error with its position, and the start exits 1`, async ({
    stage,
  }) => {
    const folder = await stage.folder({ config: text ?? "" });
    if (text === undefined) await rm(join(folder, "config.yaml"));
    const { code, stdout, stderr } = await runProgram(folder);
    const shown = stderr.replace(/:\d+(?=: nested too deeply)/, ":COLUMN");
    expect({ code, stdout, stderr: shown }).toEqual({ code: 1, stdout: "", stderr: output });
  });
}

const FAILED = "reload failed, the old configuration stays";

/** The lines of errors, and the number of errors, of each failed reload. */
function failedReloads(program: Program): readonly { readonly lines: number; readonly errors: number }[] {
  const reloads: { lines: number; errors: number }[] = [];
  let lines = 0;
  for (const { level, msg, errors = 0 } of program.log()) {
    if (level !== "error") continue;
    if (msg === FAILED) reloads.push({ lines, errors });
    lines = msg === FAILED ? 0 : lines + 1;
  }
  return reloads;
}

test.concurrent("fault 27: a reload with any of them keeps the old configuration", async ({ stage }) => {
  const server = await stage.server(healthy);
  const config = { polling: { vrrp: EVERY_SECOND }, appliances: [entry("a", server)] };
  const exporter = await stage.exporter({ config });
  for (const { text } of INVALID_CONFIGS) {
    if (text === undefined) await rm(join(exporter.folder, "config.yaml"));
    else await exporter.write("config.yaml", text);
    expect(await exporter.reload()).toBe(false);
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

test.concurrent("fault 48: a reload with a hostile or huge file: the old configuration stays, 100 errors at most, polling goes on", async ({
  stage,
}) => {
  const server = await stage.server(healthy);
  const config = { polling: { vrrp: EVERY_SECOND }, appliances: [entry("a", server)] };
  const program = await stage.program({ config });
  for (const text of HOSTILE_FILES) {
    const before = failedReloads(program).length;
    await writeFile(join(program.folder, "config.yaml"), text);
    program.kill("SIGHUP");
    await eventually(() => expect(failedReloads(program).length).toBeGreaterThan(before), {
      timeoutMs: 60_000,
    });
  }
  const reloads = failedReloads(program);
  expect(Math.max(...reloads.map(({ lines }) => lines))).toBe(100);
  expect(Math.max(...reloads.map(({ errors }) => errors))).toBeGreaterThan(19_000);
  const polled = server.requests.length;
  await eventually(() => expect(server.requests.length).toBeGreaterThanOrEqual(polled + 2));
  const samples = await program.scrape();
  expect(samples.value("appliance_exporter_config_last_reload_successful")).toBe(0);
  expect(samples.value("appliance_exporter_appliances")).toBe(1);
});

test.concurrent("fault 49: one address for two members of a cluster is an error with both positions, and the start exits 1", async ({
  stage,
}) => {
  const config = `clusters:
  - name: ams
    appliances:
      - { name: a, base_url: "https://waf.example/mgmt" }
      - { name: b, base_url: "https://WAF.example:443/mgmt/" }
`;
  const { code, stdout, stderr } = await runProgram(await stage.folder({ config }));
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: "",
    stderr:
      "config.yaml:5:20: clusters[0].appliances[1].base_url: duplicate address in one cluster, also at config.yaml:4:20\n",
  });
});

test.concurrent("fault 49: one address in two clusters is a warning in the log, at the start and at each reload", async ({
  stage,
}) => {
  const server = await stage.server(healthy);
  const config = {
    polling: { vrrp: EVERY_SECOND },
    appliances: [entry("a", server), entry("b", server)],
  };
  const exporter = await stage.exporter({ config });
  const warnings = () => exporter.log.lines.filter(({ level }) => level === "warn");
  const warning = expect.objectContaining({
    addresses: 1,
    detail: `http://127.0.0.1:${server.port} (a, b)`,
    msg: "several appliances have the same address",
  });
  expect(warnings()).toEqual([warning]);
  expect(await exporter.reload()).toBe(true);
  expect(warnings()).toEqual([warning, warning]);
});
