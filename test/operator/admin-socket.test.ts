import { userInfo } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runProgram } from "../../src/program/program.ts";
import { createFolder } from "../exporter/config/folder.ts";
import { HASH } from "../exporter/web/support.ts";
import { closedPort } from "../support/fault-server.ts";
import { createTestIo } from "../support/io.ts";

const entry = (name: string) => ({ name, base_url: `http://127.0.0.1:1/${name}`, allow_http: true });
const FILES = {
  "config.yaml": JSON.stringify({ clusters: [{ name: "ams", appliances: [entry("a"), entry("b")] }] }),
  "web.yaml": `basic_auth_users: { alice: $2y$${HASH} }`,
};

/** An exporter with passwords and a local socket, as the service is, and a function that runs commands beside it. */
async function runningExporter() {
  const folder = await createFolder(FILES);
  const port = await closedPort();
  const adminSocket = join(folder, "admin.sock");
  const { io, stop } = await createTestIo();
  const flags = [
    `--config.file=${join(folder, "config.yaml")}`,
    `--web.config.file=${join(folder, "web.yaml")}`,
    `--web.listen-address=127.0.0.1:${port}`,
    `--web.admin-socket=${adminSocket}`,
  ];
  const ended = runProgram(["run", ...flags], io);
  onTestFinished(async () => {
    stop();
    await ended;
  });
  async function run(...args: readonly string[]) {
    const { io: own, printed } = await createTestIo({ defaultSocket: adminSocket });
    return { code: await runProgram(args, own), ...printed };
  }
  await expect.poll(async () => (await run("maintenance", "list")).code).toBe(0);
  return { run, url: `http://127.0.0.1:${port}`, adminSocket };
}

const START = ["maintenance", "start", "a", "--for=30m", "--comment=firmware", "--id=patchnight"];

test("commands on the host of the exporter need no password, no flag and no URL", async () => {
  const { run, adminSocket } = await runningExporter();
  const by = `local socket, as stated: ${userInfo().username}`;
  const started = await run(...START);
  expect(started).toMatchObject({ code: 0, err: "" });
  expect(started.out).toContain(by);
  expect(started.out).toContain(`unix:${adminSocket}`);
  const { exporters } = JSON.parse((await run("maintenance", "list", "--output=json")).out);
  expect(exporters).toMatchObject([{ url: `unix:${adminSocket}`, windows: [{ id: "patchnight", by }] }]);
  // The window is one's own, so that nobody is asked.
  expect((await run("maintenance", "extend", "patchnight", "--for=5m")).code).toBe(0);
  expect((await run("maintenance", "end", "patchnight")).out).toMatch(/^patchnight ended/);
  expect((await run("status", "--output=json")).out).toContain('"name": "ams"');
  expect((await run("ready", "a")).out).toMatch(/^If a fails, /);
});

test("over its port, the same exporter wants a password, and says how to give it", async () => {
  const { run, url } = await runningExporter();
  const { code, err } = await run("status", `--url=${url}`);
  expect(code).toBe(2);
  expect(err).toMatch(
    /answered with status 401\. The exporter wants a password: put .* --http\.config\.file=operator\.yaml\n$/,
  );
});

test("a socket may be named, and needs no password file", async () => {
  const { run, adminSocket } = await runningExporter();
  expect((await run("maintenance", "list", `--url=unix:${adminSocket}`)).code).toBe(0);
  expect(
    await run("maintenance", "list", `--url=unix:${adminSocket}`, "--http.config.file=x.yaml"),
  ).toMatchObject({
    code: 2,
    err: "error: a unix: URL needs no password: leave --http.config.file out\n",
  });
  const path = `${adminSocket}.none`;
  for (const url of [`unix:${path}`, path])
    expect(await run("status", `--url=${url}`)).toMatchObject({
      code: 2,
      err: `unix:${path}: connect ENOENT ${path}. Start the exporter, or give the URL of another one with --url\n`,
    });
});

test("the name that a command states is that of whoever uses sudo, and any other text is none", async () => {
  const { adminSocket, run } = await runningExporter();
  for (const [id, name, by] of [
    ["firstwork", "bob", "bob"],
    ["secondwork", "bob, as root", "unknown"],
    ["thirdwork", "Zoë\n", "unknown"],
  ] as const) {
    const { io, printed } = await createTestIo({ defaultSocket: adminSocket, environment: () => name });
    const start = ["maintenance", "start", "a", "--for=1m", "--comment=x", `--id=${id}`];
    expect(await runProgram(start, io)).toBe(0);
    expect(printed.out).toContain(`local socket, as stated: ${by}  `);
  }
  expect((await run("maintenance", "list")).out).toContain("local socket, as stated: bob");
});

test("a socket that cannot be made is an error at the start", async () => {
  const folder = await createFolder(FILES);
  const { io, printed } = await createTestIo();
  const path = join(folder, "no", "admin.sock");
  const flags = [`--config.file=${join(folder, "config.yaml")}`, "--web.listen-address=127.0.0.1:0"];
  expect(await runProgram(["run", ...flags, `--web.admin-socket=${path}`], io)).toBe(1);
  expect(printed.err).toBe(
    `--web.admin-socket=${path}: there is no folder ${join(folder, "no")}: create it for the user of the exporter\n`,
  );
});
