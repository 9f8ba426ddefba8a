import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toolPath } from "../support/tool.ts";
import { createRoot, packagePath } from "./root.ts";

const deb = await packagePath(".deb");
const root = await createRoot();
const CONFIG = "/etc/appliance-exporter/config.yaml";

/** Paths of all files but those that any package changes. */
function listFiles(): readonly string[] {
  const changing =
    /^(var\/(lib\/dpkg|log|cache)|tmp|run)\/|^etc\/(passwd|group|g?shadow|sub[ug]id)-?$|^etc\/\.pwd\.lock$/;
  return readdirSync(root.folder, { recursive: true, encoding: "utf8" })
    .filter((path) => !changing.test(path))
    .toSorted();
}

/** A later version of the package, whose configuration is another one. */
function writeLaterVersion(path: string): void {
  const folder = join(root.folder, "tmp/later");
  execFileSync(toolPath("dpkg-deb"), ["--raw-extract", deb, folder]);
  const control = join(folder, "DEBIAN/control");
  writeFileSync(control, readFileSync(control, "utf8").replace("Version: 0.1.0", "Version: 0.1.1"));
  execFileSync(toolPath("dpkg-deb"), ["--root-owner-group", "-Znone", "--build", folder, path]);
  rmSync(folder, { recursive: true });
}

test("the package is installed, upgraded, removed and purged", async () => {
  const before = listFiles();
  copyFileSync(deb, join(root.folder, "tmp/first.deb"));
  await root.run("dpkg --install /tmp/first.deb");
  expect(await root.run("appliance-exporter --version")).toMatch(/^appliance-exporter, version 0\.1\.0 /);
  expect(await root.run(`appliance-exporter check --config.file=${CONFIG}`)).toBe(
    `${CONFIG}: valid, appliances: 0 enabled, 0 disabled\n`,
  );
  // For whoever boots this system.
  expect(
    await root.run("readlink /etc/systemd/system/multi-user.target.wants/appliance-exporter.service"),
  ).toBe("/lib/systemd/system/appliance-exporter.service\n");
  // The service reads what root writes, and nobody else does.
  await root.run("umask 027 && echo x >/etc/appliance-exporter/secrets/monitor");
  const read = "cat /etc/appliance-exporter/secrets/monitor";
  const as = (user: string, script: string) =>
    root.run(`setpriv --reuid=${user} --regid=${user} --init-groups sh -c '${script}'`);
  expect(await as("appliance-exporter", read)).toBe("x\n");
  await expect(as("appliance-exporter", "echo y >/etc/appliance-exporter/secrets/monitor")).rejects.toThrow(
    "denied",
  );
  await expect(as("games", read)).rejects.toThrow("denied");

  const own = `http_client: { basic_auth: { username: monitor, password_file: secrets/monitor } }\nclusters: []\n`;
  writeFileSync(join(root.folder, CONFIG), own);
  writeLaterVersion(join(root.folder, "tmp/later.deb"));
  await root.run("dpkg --install /tmp/later.deb");
  expect(await root.run("dpkg-query --show appliance-exporter")).toBe("appliance-exporter\t0.1.1\n");
  expect(readFileSync(join(root.folder, CONFIG), "utf8")).toBe(own);
  // And back.
  await root.run("dpkg --install /tmp/first.deb");
  expect(await root.run("dpkg-query --show appliance-exporter")).toBe("appliance-exporter\t0.1.0\n");
  expect(await root.run(read)).toBe("x\n");

  await root.run("dpkg --remove appliance-exporter");
  expect(readFileSync(join(root.folder, CONFIG), "utf8")).toBe(own);
  await root.run("dpkg --install /tmp/first.deb");
  expect(readFileSync(join(root.folder, CONFIG), "utf8")).toBe(own);

  await root.run("dpkg --purge appliance-exporter");
  expect(listFiles()).toEqual(before);
  await expect(root.run("dpkg-query --show appliance-exporter")).rejects.toThrow("no packages found");
});

test("lintian finds no error", () => {
  const { status, stdout } = spawnSync(toolPath("lintian"), ["--allow-root", deb], { encoding: "utf8" });
  expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
});
