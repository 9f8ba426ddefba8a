import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { createRoot, VERSION } from "./root.ts";
import { filesIn, nameOf, OPT, unpackTarball, versionOn } from "./tarballs.ts";

const root = await createRoot();
await unpackTarball(root, process.arch);
const FOLDER = `${OPT}/${nameOf(process.arch)}`;

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
  await root.run(`ln -s ${FOLDER}/appliance-exporter /usr/bin/appliance-exporter`);
  expect(await root.run("appliance-exporter --version")).toBe(versionOn(process.arch));
  expect(await root.run("cd /usr && bin/appliance-exporter --version")).toBe(versionOn(process.arch));
});

test("the tarball has the documents, the rules, the dashboard and all licences", async () => {
  expect(filesIn(root, process.arch)).toEqual(
    expect.arrayContaining([
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "config.example.yaml",
      "dist/LICENCES.txt",
      "dist/sbom.cdx.json",
      "docs/operations.md",
      "monitoring/grafana/appliance-exporter.json",
      "monitoring/prometheus/appliance-exporter.rules.yml",
      "node/LICENSE",
      "packaging/systemd/appliance-exporter.service",
    ]),
  );
});
