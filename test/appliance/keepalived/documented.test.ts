import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadApplianceConfig } from "../../../src/appliance/config.ts";
import { codeBlocks } from "../../support/code-blocks.ts";
import { AUTHORITY } from "../support.ts";
import { temporaryFolder } from "./support.ts";

const page = await readFile(new URL("../../../docs/reference/keepalived.md", import.meta.url), "utf8");
const unit = await readFile(
  new URL("../../../packaging/systemd/reference-appliance.service", import.meta.url),
  "utf8",
);

/** Loads a configuration with its credentials in its folder. */
async function load(yaml: string) {
  const folder = await temporaryFolder();
  const { cert, key } = await AUTHORITY.issue();
  const files = { "appliance.pem": cert, "secrets/appliance.key": key, "secrets/monitor": "password" };
  await mkdir(join(folder, "secrets"));
  const text = yaml.replaceAll("/run/credentials/reference-appliance.service/", "secrets/");
  for (const [name, content] of Object.entries({ ...files, "appliance.yaml": text }))
    await writeFile(join(folder, name), content);
  return loadApplianceConfig(join(folder, "appliance.yaml"));
}

test("the configuration of the walk-through is valid, and names the files of its other steps", async () => {
  const [walkThrough = ""] = codeBlocks(page, "yaml");
  const loaded = await load(walkThrough);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
  const { vrrp } = loaded.config;
  expect(vrrp).toMatchObject({
    pidFile: "/run/vrrp.pid",
    dumpFile: "/run/keepalived-dump/keepalived.json",
    instances: new Map([["VI_1", { carppeer: "192.0.2.12", type: "1" }]]),
  });
  for (const text of [
    "d /run/keepalived-dump 0770 root keepalived-dump -",
    "Environment=TMPDIR=/run/keepalived-dump\n",
  ])
    expect(page).toContain(text);
  expect(unit).toContain("\nReadWritePaths=/run/keepalived-dump\n");
  expect(unit).toContain("\nSupplementaryGroups=keepalived-dump\n");
});

test("the short configuration is valid, and its defaults match the table", async () => {
  const [walkThrough = "", short = ""] = codeBlocks(page, "yaml");
  const loaded = await load(walkThrough.replace(/^vrrp:\n(?: .*\n)+/m, short));
  if (!loaded.ok || loaded.config.vrrp.source !== "keepalived") throw new Error("expected a keepalived");
  const { pidFile, dumpFile, signal, timeoutMs } = loaded.config.vrrp;
  for (const [key, value] of [
    ["pid_file", pidFile],
    ["dump_dir", dumpFile.replace("/keepalived.json", "")],
    ["json_signal", signal],
    ["timeout", `${timeoutMs}ms`],
  ])
    expect(page).toContain(`| \`${key}\` | \`${value}\` |`);
});
