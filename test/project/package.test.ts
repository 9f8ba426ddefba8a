import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

function sources(): readonly string[] {
  const paths = readdirSync("src", { recursive: true, encoding: "utf8" });
  return paths.filter((path) => path.endsWith(".ts")).map((path) => read(`src/${path}`));
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

describe("the package", () => {
  it("pins every dependency to one version", () => {
    const { dependencies, devDependencies }: Manifest = JSON.parse(read("package.json"));
    const versions = Object.values({ ...dependencies, ...devDependencies });
    expect(versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });

  it("names the libraries of the program as its dependencies, and no others", () => {
    const { dependencies }: Manifest = JSON.parse(read("package.json"));
    const imports = sources().flatMap((text) => [...text.matchAll(/ from "([a-z][^"/:]*)"/g)]);
    expect(Object.keys(dependencies)).toEqual([...new Set(imports.map(([, name = ""]) => name))].toSorted());
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
