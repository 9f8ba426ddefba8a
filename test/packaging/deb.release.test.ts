import { execFileSync, spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { toolPath } from "../support/tool.ts";
import { DEB_VERSION, packagePath } from "./root.ts";

const deb = await packagePath("_amd64.deb");
const armDeb = await packagePath("_arm64.deb");

/** The lines that dpkg-deb prints. */
function dpkgDeb(...args: readonly string[]): readonly string[] {
  return execFileSync(toolPath("dpkg-deb"), args, { encoding: "utf8" }).trimEnd().split("\n");
}

test("the package for arm64 says so, and only Node.js and the bill of materials in it differ", () => {
  expect(dpkgDeb("--field", armDeb, "Package", "Version", "Architecture")).toEqual([
    "Package: appliance-exporter",
    `Version: ${DEB_VERSION}`,
    "Architecture: arm64",
  ]);
  const sums = new Set(dpkgDeb("--info", deb, "md5sums"));
  const differing = dpkgDeb("--info", armDeb, "md5sums").filter((line) => !sums.has(line));
  expect(differing.map((line) => line.split("  ")[1])).toEqual([
    "usr/lib/appliance-exporter/dist/sbom.cdx.json",
    "usr/lib/appliance-exporter/node/node",
  ]);
});

test("lintian finds no error", () => {
  const { status, stdout } = spawnSync(toolPath("lintian"), ["--allow-root", deb], { encoding: "utf8" });
  expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
});
