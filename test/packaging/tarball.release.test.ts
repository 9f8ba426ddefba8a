import { execFile, execFileSync, spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync, readSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { toolPath } from "../support/tool.ts";
import { createRoot, NODE_VERSION, VERSION } from "./root.ts";
import { filesIn, nameOf, OPT, unpackTarball, versionOn } from "./tarballs.ts";

const ARCHITECTURES = ["x64", "arm64"];

const root = await createRoot();
const opt = join(root.folder, OPT);
for (const architecture of ARCHITECTURES) await unpackTarball(root, architecture);

test("the program for arm64 starts and checks a configuration on an emulated processor", async () => {
  const folder = join(opt, nameOf("arm64"));
  const config = join(root.folder, "tmp/config.yaml");
  writeFileSync(config, `appliances: [{ name: waf-lab, base_url: "https://192.0.2.11:4849" }]\n`);
  const program = [join(folder, "node/node"), join(folder, "bin/appliance-exporter.cjs")];
  const run = async (...args: readonly string[]) => {
    const emulated = ["-L", "/usr/aarch64-linux-gnu", ...program, ...args];
    return (await promisify(execFile)(toolPath("qemu-aarch64"), emulated)).stdout;
  };
  expect(await run("--version")).toBe(versionOn("arm64"));
  expect(await run("check", `--config.file=${config}`)).toBe(
    `${config}: valid, appliances: 1 enabled, 0 disabled\n`,
  );
});

test("the tarballs differ in Node.js and the bill of materials only", () => {
  const [x64 = "", arm64 = ""] = ARCHITECTURES.map(nameOf);
  const { stdout } = spawnSync(toolPath("diff"), ["--recursive", "--brief", x64, arm64], {
    cwd: opt,
    encoding: "utf8",
  });
  expect(stdout).toBe(`Files ${x64}/dist/sbom.cdx.json and ${arm64}/dist/sbom.cdx.json differ
Files ${x64}/node/node and ${arm64}/node/node differ
`);
});

interface Sbom {
  readonly serialNumber?: string;
  readonly metadata: { readonly timestamp: string; readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Component {
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
  readonly licenses: readonly { readonly license: { readonly id: string } }[];
}

/** As the headings of `dist/LICENCES.txt`. */
const headingOf = ({ name, version, licenses }: Component) =>
  `${name} ${version}: ${licenses[0]?.license.id}`;

test.each(ARCHITECTURES)(
  "the bill of materials for %s lists the bundled libraries and Node.js with their licences",
  (architecture) => {
    const dist = join(opt, nameOf(architecture), "dist");
    const sbom: Sbom = JSON.parse(readFileSync(join(dist, "sbom.cdx.json"), "utf8"));
    const headings = readFileSync(join(dist, "LICENCES.txt"), "utf8").match(/^\S+ \d+\.\S+: \S+$/gm) ?? [];
    expect(sbom.components.map(headingOf).toSorted()).toEqual(
      [...headings, `node ${NODE_VERSION}: MIT`].toSorted(),
    );
    expect(sbom.components.map((each) => each["bom-ref"])).toContain(
      `node-linux-${architecture}@${NODE_VERSION}`,
    );
    const { timestamp, component } = sbom.metadata;
    expect([sbom.serialNumber, timestamp]).toEqual([undefined, "2026-03-01T07:53:32.000Z"]);
    expect(headingOf(component)).toBe(`appliance-exporter ${VERSION}: Apache-2.0`);
    // The program needs each of them, by way of others or not.
    const needed = sbom.dependencies.flatMap(({ dependsOn }) => dependsOn);
    expect(new Set(needed)).toEqual(new Set(sbom.components.map((each) => each["bom-ref"])));
  },
);

test.each(ARCHITECTURES)(
  "the programs for %s need no C library newer than that of Ubuntu 22.04",
  (architecture) => {
    const unpacked = join(opt, nameOf(architecture));
    const programs = filesIn(root, architecture).filter((path) => isElf(join(unpacked, path)));
    expect(programs).toEqual(["node/node"]);
    const args = ["--version-info", ...programs.map((path) => join(unpacked, path))];
    const symbols = execFileSync(toolPath("readelf"), args, { encoding: "utf8" });
    const newest = (family: RegExp) =>
      Math.max(...Array.from(symbols.matchAll(family), ([, minor]) => Number(minor)));
    // Debian 12 has 2.36 and 3.4.30, too.
    expect(newest(/\bGLIBC_2\.(\d+)/g)).toBeLessThanOrEqual(35);
    expect(newest(/\bGLIBCXX_3\.4\.(\d+)/g)).toBeLessThanOrEqual(30);
  },
);

function isElf(path: string): boolean {
  const start = Buffer.alloc(4);
  const file = openSync(path, "r");
  readSync(file, start);
  closeSync(file);
  return start.toString("latin1") === "\u007FELF";
}
