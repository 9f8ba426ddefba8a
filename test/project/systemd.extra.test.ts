import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { toolPath } from "../support/tool.ts";

const NAMES = ["appliance-exporter.service", "reference-appliance.service"];

function settings(unit: string, key: string): readonly string[] {
  return unit.split("\n").flatMap((line) => (line.startsWith(`${key}=`) ? [line.slice(key.length + 1)] : []));
}

/** The result of systemd-analyze for the text of a unit. */
async function analyze(name: string, text: string, ...args: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, name);
  // systemd-analyze rejects a unit whose command is not installed.
  await writeFile(path, text.replaceAll("=/usr/bin/appliance-exporter ", "=/bin/true "));
  const { status, stdout, stderr } = spawnSync(toolPath("systemd-analyze"), [...args, path], {
    encoding: "utf8",
  });
  return { status, output: stdout + stderr };
}

describe.each(NAMES)("the unit %s", (name) => {
  const unit = readFileSync(new URL(`../../packaging/systemd/${name}`, import.meta.url), "utf8");

  it("is valid for systemd", async () => {
    const verdict = await analyze(name, unit, "verify", "--man=no");
    expect(verdict).toEqual({ status: 0, output: "" });
  });

  it("has an exposure level of at most 2 of 10", async () => {
    const verdict = await analyze(name, unit, "security", "--offline=true", "--threshold=20", "--no-pager");
    expect(verdict.output).toContain("Overall exposure level");
    expect(verdict.status).toBe(0);
  });

  it("writes no core dump, which would contain secrets", () => {
    expect(settings(unit, "LimitCORE")).toEqual(["0"]);
  });

  it("starts the installed command with the environment of its launcher", () => {
    const { bin }: { readonly bin: object } = JSON.parse(
      readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
    );
    const [command = ""] = settings(unit, "ExecStart");
    expect(Object.keys(bin).map((each) => `/usr/bin/${each}`)).toEqual([command.split(" ")[0]]);
    const launcher = readFileSync(new URL("../../bin/appliance-exporter.cjs", import.meta.url), "utf8");
    const variables = Array.from(
      launcher.matchAll(/process\.env\.\w+ = process\.env\.(\w+) \|\| "([^"]*)"/g),
      ([, key, value]) => `${key}=${value}`,
    );
    expect(settings(unit, "Environment").map((text) => text.replaceAll('"', ""))).toEqual(variables);
  });

  it("checks the configuration, with the flags of the command, before each start and reload", () => {
    const [command = ""] = settings(unit, "ExecStart");
    const checks = command.includes(" run ") ? [command.replace(" run ", " check ")] : [];
    expect(settings(unit, "ExecStartPre")).toEqual(checks);
    expect(settings(unit, "ExecReload").slice(0, -1)).toEqual(checks);
  });

  it("names each credential as its comment does, and is valid with those that are only comments", async () => {
    const commented = settings(unit, "#LoadCredential");
    for (const text of [...settings(unit, "LoadCredential"), ...commented])
      expect(unit).toContain(`_file: /run/credentials/${name}/${text.split(":")[0]} `);
    const uncommented = unit.replaceAll("#LoadCredential=", "LoadCredential=");
    const verdict = await analyze(name, uncommented, "verify", "--man=no");
    expect(verdict).toEqual({ status: 0, output: "" });
  });
});
