import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

interface Manifest {
  readonly dependencies?: unknown;
  readonly devDependencies: Readonly<Record<string, string>>;
}

describe("the package", () => {
  it("pins every dependency to one version, and installs none at run time", () => {
    const { dependencies, devDependencies }: Manifest = JSON.parse(read("package.json"));
    expect(dependencies).toBeUndefined();
    const versions = Object.values(devDependencies);
    expect(versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });

  it("has a lockfile without download addresses", () => {
    expect(read("package-lock.json")).not.toMatch(/"resolved"|https?:\/\/registry/);
  });

  it("gives V8 only flags that it knows: --heap-growing-percent and --incremental-marking-task of V8", () => {
    const [, given = ""] = /flags = "([^"]*)"/.exec(read("bin/appliance-exporter.cjs")) ?? [];
    const flags = given.split(" ").map((flag) => flag.replace(/^--(?:no-)?/, "--").replace(/=.*/, ""));
    expect(flags).toEqual(["--heap-growing-percent", "--incremental-marking-task"]);
    const known = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });
    expect(flags.filter((flag) => !known.includes(`\n  ${flag} (`))).toEqual([]);
  });
});
