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
});
