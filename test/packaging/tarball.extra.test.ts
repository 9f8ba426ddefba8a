import { execFileSync } from "node:child_process";
import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { toolPath } from "../support/tool.ts";
import { createRoot, NODE_VERSION, packagePath, VERSION } from "./root.ts";

const FOLDER = `/opt/appliance-exporter-${VERSION}-linux-x64`;

const root = await createRoot();
execFileSync("tar", ["-xf", await packagePath(".tar.xz"), "-C", join(root.folder, "opt")]);
const unpacked = join(root.folder, FOLDER);
const files = readdirSync(unpacked, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => relative(unpacked, join(entry.parentPath, entry.name)));

test("the unpacked demo shows a MASTER on a machine without Node.js", async () => {
  expect(await root.run("command -v node || echo none")).toBe("none\n");
  const demo = root.start(`cd ${FOLDER} && exec ./appliance-exporter demo --web.listen-address=127.0.0.1:0`);
  const lines: string[] = [];
  if (demo.stdout !== null) createInterface(demo.stdout).on("line", (line) => lines.push(line));
  const url = await eventually(() => {
    const [found] = lines.join("\n").match(/http:\/\/[\d.:]+\/metrics/) ?? [];
    if (found === undefined) throw new Error(`no address in ${lines.join("\n")}`);
    return found;
  });
  await eventually(async () => {
    const metrics = await (await fetch(url)).text();
    expect(metrics).toMatch(/^vrrp_is_master\{.*\} 1$/m);
    expect(metrics).toContain(
      `appliance_exporter_build_info{version="${VERSION}",revision="0123abcd",branch="main"`,
    );
  });
});

test("a symbolic link to the command works", async () => {
  const version = `appliance-exporter, version ${VERSION} (branch: main, revision: 0123abcd)
  build date:       20260301-07:53:32
  node version:     v${NODE_VERSION}
  platform:         linux/x64
`;
  await root.run(`ln -s ${FOLDER}/appliance-exporter /usr/bin/appliance-exporter`);
  expect(await root.run("appliance-exporter --version")).toBe(version);
  expect(await root.run("cd /usr && bin/appliance-exporter --version")).toBe(version);
});

test("the tarball has the documents, the rules, the dashboard and all licences", async () => {
  expect(files).toEqual(
    expect.arrayContaining([
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "config.example.yaml",
      "dist/LICENCES.txt",
      "docs/operations.md",
      "monitoring/grafana/appliance-exporter.json",
      "monitoring/prometheus/appliance-exporter.rules.yml",
      "node/LICENSE",
      "packaging/systemd/appliance-exporter.service",
    ]),
  );
});

test("its programs need no C library newer than that of Ubuntu 22.04", async () => {
  const programs = files.filter((path) => isElf(join(unpacked, path)));
  expect(programs).toEqual(["node/node"]);
  const args = ["--version-info", ...programs.map((path) => join(unpacked, path))];
  const symbols = execFileSync(toolPath("readelf"), args, { encoding: "utf8" });
  const newest = (family: RegExp) =>
    Math.max(...Array.from(symbols.matchAll(family), ([, minor]) => Number(minor)));
  // Debian 12 has 2.36 and 3.4.30, too.
  expect(newest(/\bGLIBC_2\.(\d+)/g)).toBeLessThanOrEqual(35);
  expect(newest(/\bGLIBCXX_3\.4\.(\d+)/g)).toBeLessThanOrEqual(30);
});

function isElf(path: string): boolean {
  const start = Buffer.alloc(4);
  const file = openSync(path, "r");
  readSync(file, start);
  closeSync(file);
  return start.toString("latin1") === "\u007FELF";
}
