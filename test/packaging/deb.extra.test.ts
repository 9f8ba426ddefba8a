import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { portOf } from "../support/fault-server.ts";
import { toolPath } from "../support/tool.ts";
import { createRoot, DEB_VERSION, packagePath, VERSION } from "./root.ts";

const deb = await packagePath("_amd64.deb");
const root = await createRoot();
const CONFIG = "/etc/appliance-exporter/config.yaml";
const STORAGE = "/var/lib/appliance-exporter";

/** The value of a setting of the installed unit. */
function unitSetting(key: string): string {
  const unit = readFileSync(join(root.folder, "lib/systemd/system/appliance-exporter.service"), "utf8");
  return new RegExp(`^${key}=(.*)$`, "m").exec(unit)?.[1] ?? "";
}

/** Creates the folders that systemd would create at the start of the service. */
async function createServiceFolders(): Promise<void> {
  const [user, group] = ["User", "Group"].map(unitSetting);
  for (const [kind, parent] of [
    ["StateDirectory", "/var/lib"],
    ["RuntimeDirectory", "/run"],
  ] as const) {
    const [mode, name] = [`${kind}Mode`, kind].map(unitSetting);
    await root.run(`install -d -o ${user} -g ${group} -m ${mode} ${parent}/${name}`);
  }
}

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

test("dpkg has development versions in order, and their release behind them", async () => {
  expect(deb).toContain(`_${DEB_VERSION}_`);
  const inOrder = ["0.9.0", "1.0.0~dev.0.1772351612", "1.0.0~dev.9", "1.0.0~dev.10", "1.0.0"];
  for (const [nth, later] of inOrder.slice(1).entries())
    await root.run(`dpkg --compare-versions ${inOrder[nth]} lt ${later}`);
});

test("the package is installed, upgraded, removed and purged", async () => {
  const before = listFiles();
  copyFileSync(deb, join(root.folder, "tmp/first.deb"));
  await root.run("dpkg --install /tmp/first.deb");
  expect(await root.run("appliance-exporter --version")).toContain(`appliance-exporter, version ${VERSION} `);
  expect(await root.run(`appliance-exporter check --config.file=${CONFIG}`)).toBe(
    `${CONFIG}: valid, appliances: 0 enabled, 0 disabled\n`,
  );
  for (const file of [
    "bash-completion/completions/appliance-exporter",
    "zsh/vendor-completions/_appliance-exporter",
  ])
    expect(readFileSync(join(root.folder, "usr/share", file), "utf8")).toContain("maintenance start");
  // For whoever boots this system.
  expect(
    await root.run("readlink /etc/systemd/system/multi-user.target.wants/appliance-exporter.service"),
  ).toBe("/lib/systemd/system/appliance-exporter.service\n");
  const accessOf = (...paths: readonly string[]) =>
    root.run(
      `stat --format='%U %G %a %n' ${paths.map((path) => join("/etc/appliance-exporter", path)).join(" ")}`,
    );
  expect(await accessOf("config.yaml", "secrets")).toBe(`root appliance-exporter 640 ${CONFIG}
root appliance-exporter 2750 /etc/appliance-exporter/secrets
`);
  // The service reads what root writes, and nobody else does.
  await root.run("umask 027 && echo x >/etc/appliance-exporter/secrets/monitor");
  const read = "cat /etc/appliance-exporter/secrets/monitor";
  const as = (user: string, script: string) =>
    root.run(`setpriv --reuid=${user} --regid=${user} --init-groups sh -c '${script}'`);
  expect(await as("appliance-exporter", read)).toBe("x\n");
  expect(await as("appliance-exporter", `cat ${CONFIG}`)).toContain("clusters: []");
  await expect(as("games", `cat ${CONFIG}`)).rejects.toThrow("denied");
  await expect(as("appliance-exporter", "echo y >/etc/appliance-exporter/secrets/monitor")).rejects.toThrow(
    "denied",
  );
  await expect(as("games", read)).rejects.toThrow("denied");

  const own = `http_client: { basic_auth: { username: monitor, password_file: secrets/monitor } }\nclusters: []\n`;
  writeFileSync(join(root.folder, CONFIG), own);
  writeLaterVersion(join(root.folder, "tmp/later.deb"));
  // The choice of the administrator.
  await root.run(
    `chown games:games /etc/appliance-exporter/secrets && chmod 00700 /etc/appliance-exporter/secrets`,
  );
  await root.run(`chown root:root ${CONFIG} && chmod 0644 ${CONFIG}`);
  await root.run("dpkg --install /tmp/later.deb");
  expect(await root.run("dpkg-query --show appliance-exporter")).toBe(
    `appliance-exporter\t${DEB_VERSION}+later\n`,
  );
  expect(readFileSync(join(root.folder, CONFIG), "utf8")).toBe(own);
  expect(await accessOf("config.yaml", "secrets")).toBe(`root root 644 ${CONFIG}
games games 700 /etc/appliance-exporter/secrets
`);
  // And back.
  await root.run("dpkg --install /tmp/first.deb");
  expect(await root.run("dpkg-query --show appliance-exporter")).toBe(`appliance-exporter\t${DEB_VERSION}\n`);
  expect(await root.run(read)).toBe("x\n");

  await createServiceFolders();
  await as("appliance-exporter", `touch ${STORAGE}/2026-11-26.jsonl`);
  await root.run("dpkg --remove appliance-exporter");
  expect(readFileSync(join(root.folder, CONFIG), "utf8")).toBe(own);
  await root.run("dpkg --install /tmp/first.deb");
  expect(readFileSync(join(root.folder, CONFIG), "utf8")).toBe(own);
  expect(await root.run(`ls ${STORAGE}`)).toBe("2026-11-26.jsonl\n");

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

test("the service's command polls as its user, keeps a journal, and uses a password that root has replaced", async () => {
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
  await createServiceFolders();
  const ids = `--reuid=${unitSetting("User")} --regid=${unitSetting("Group")} --init-groups`;
  root.start(`ARGS=--web.listen-address=127.0.0.1:0; exec setpriv ${ids} ${unitSetting("ExecStart")}`);
  await expect.poll(appliance.password).toBe("first");
  await writePassword("second");
  await expect.poll(appliance.password).toBe("second");
  await expect
    .poll(() => root.run(`stat --format='%U %G %a %n' ${STORAGE} ${STORAGE}/*.jsonl`).catch(() => ""))
    .toMatch(
      /^appliance-exporter appliance-exporter 700 \S+\n(appliance-exporter appliance-exporter 600 \S+\/(\d{4}-\d\d-\d\d|ongoing)\.jsonl\n){2}$/,
    );

  const socket = "/run/appliance-exporter/admin.sock";
  expect(await root.run(`stat --format='%U %G %a' ${socket}`)).toBe(
    "appliance-exporter appliance-exporter 660\n",
  );
  // Root needs no password and no flag, and whoever is not in the group gets no further than the port.
  const start = "appliance-exporter maintenance start waf-lab --for=1m --comment=x";
  expect(await root.run(start)).toContain(`unix:${socket}`);
  expect(await root.run(`setpriv ${ids} appliance-exporter maintenance list`)).toContain(
    "local socket, as stated: root",
  );
  await expect(root.run("setpriv --reuid=games --clear-groups appliance-exporter status")).rejects.toThrow(
    "http://localhost:10849/: ",
  );
});
