import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { portOf } from "../support/fault-server.ts";
import { toolPath } from "../support/tool.ts";
import { createRoot, packagePath, VERSION } from "./root.ts";

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

/** The package with a later version. */
function writeLaterVersion(path: string): void {
  const folder = join(root.folder, "tmp/later");
  execFileSync(toolPath("dpkg-deb"), ["--raw-extract", deb, folder]);
  const control = join(folder, "DEBIAN/control");
  writeFileSync(control, readFileSync(control, "utf8").replace(/^Version: .*/m, "$&+later"));
  execFileSync(toolPath("dpkg-deb"), ["--root-owner-group", "-Znone", "--build", folder, path]);
  rmSync(folder, { recursive: true });
}

test("the package is installed, upgraded, removed and purged", async () => {
  const before = listFiles();
  copyFileSync(deb, join(root.folder, "tmp/first.deb"));
  await root.run("dpkg --install /tmp/first.deb");
  expect(await root.run("appliance-exporter --version")).toContain(`appliance-exporter, version ${VERSION} `);
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
  // As a backup without its groups restores it.
  await root.run("chown root:root /etc/appliance-exporter/secrets");
  await root.run("chmod 0700 /etc/appliance-exporter/secrets");
  await root.run("dpkg --install /tmp/later.deb");
  expect(await root.run("dpkg-query --show appliance-exporter")).toBe(
    `appliance-exporter\t${VERSION}+later\n`,
  );
  expect(readFileSync(join(root.folder, CONFIG), "utf8")).toBe(own);
  expect(await root.run("stat --format='%U %G %a' /etc/appliance-exporter/secrets")).toBe(
    "root appliance-exporter 2750\n",
  );
  // And back.
  await root.run("dpkg --install /tmp/first.deb");
  expect(await root.run("dpkg-query --show appliance-exporter")).toBe(`appliance-exporter\t${VERSION}\n`);
  expect(await root.run(read)).toBe("x\n");

  await root.run("dpkg --remove appliance-exporter");
  expect(readFileSync(join(root.folder, CONFIG), "utf8")).toBe(own);
  await root.run("dpkg --install /tmp/first.deb");
  expect(readFileSync(join(root.folder, CONFIG), "utf8")).toBe(own);

  await root.run("touch /etc/appliance-exporter/known_certificates");
  await root.run("dpkg --purge appliance-exporter");
  expect(listFiles()).toEqual(before);
  await expect(root.run("dpkg-query --show appliance-exporter")).rejects.toThrow("no packages found");
});

/** An appliance without interfaces, and the latest password that it got. */
async function startAppliance() {
  let password = "";
  const server = createServer((request, response) => {
    const [, credentials = ""] = request.headers.authorization?.split(" ") ?? [];
    [, password = ""] = Buffer.from(credentials, "base64").toString().split(":");
    response.setHeader("content-type", "application/json").end("{}");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${portOf(server)}`, password: () => password };
}

test("the service's command polls as its user, with a password that root has replaced", async () => {
  copyFileSync(deb, join(root.folder, "tmp/first.deb"));
  await root.run("dpkg --install /tmp/first.deb");
  const appliance = await startAppliance();
  const config = `
polling: { vrrp: { interval: 1s } }
http_client: { basic_auth: { username: monitor, password_file: secrets/monitor } }
appliances: [{ name: waf-lab, base_url: "${appliance.url}", allow_http: true }]
`;
  writeFileSync(join(root.folder, CONFIG), config);
  const writePassword = (text: string) =>
    root.run(`umask 027 && echo ${text} >/etc/appliance-exporter/secrets/monitor`);
  await writePassword("first");
  const unit = readFileSync(join(root.folder, "lib/systemd/system/appliance-exporter.service"), "utf8");
  const setting = (key: string) => new RegExp(`^${key}=(.*)$`, "m").exec(unit)?.[1] ?? "";
  const ids = `--reuid=${setting("User")} --regid=${setting("Group")} --init-groups`;
  root.start(`ARGS=--web.listen-address=127.0.0.1:0; exec setpriv ${ids} ${setting("ExecStart")}`);
  await expect.poll(appliance.password).toBe("first");
  await writePassword("second");
  await expect.poll(appliance.password).toBe("second");
});

test("lintian finds no error", () => {
  const { status, stdout } = spawnSync(toolPath("lintian"), ["--allow-root", deb], { encoding: "utf8" });
  expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
});
