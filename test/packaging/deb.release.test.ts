import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toolPath } from "../support/tool.ts";
import { createRoot, DEB_VERSION, packagePath } from "./root.ts";

const deb = await packagePath("_amd64.deb");
const root = await createRoot();
const CONFIG = "/etc/appliance-exporter/config.yaml";
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

test("an installation follows no link, uses what dpkg-statoverride says, and adds the group of an existing user", async () => {
  copyFileSync(deb, join(root.folder, "tmp/first.deb"));
  const accessOf = (path: string) => root.run(`stat --format='%U %G %a' ${path}`);
  await root.run("getent group appliance-exporter >/dev/null && groupdel -f appliance-exporter || true");
  await root.run("userdel -f appliance-exporter 2>/dev/null || true");
  await root.run("useradd --system --no-user-group --gid nogroup appliance-exporter");
  await root.run("mkdir -p /etc/appliance-exporter /srv/linked && chmod 0755 /srv/linked");
  await root.run("ln -s /srv/linked /etc/appliance-exporter/secrets");
  await root.run("dpkg --install /tmp/first.deb");
  expect(await accessOf("/srv/linked")).toBe("root root 755\n");
  expect(await accessOf(CONFIG)).toBe("root appliance-exporter 640\n");
  expect(await root.run("id --name --groups appliance-exporter")).toBe("nogroup appliance-exporter\n");
  await root.run("dpkg --purge appliance-exporter");

  for (const [path, mode] of [
    [CONFIG, "600"],
    ["/etc/appliance-exporter/secrets", "700"],
  ])
    await root.run(`dpkg-statoverride --add games games ${mode} ${path}`);
  await root.run("dpkg --install /tmp/first.deb");
  expect(await accessOf(CONFIG)).toBe("games games 600\n");
  expect(await accessOf("/etc/appliance-exporter/secrets")).toBe("games games 700\n");
  await root.run("dpkg --purge appliance-exporter");
  await root.run(`dpkg-statoverride --remove ${CONFIG}`);
  await root.run("dpkg-statoverride --remove /etc/appliance-exporter/secrets");
});
