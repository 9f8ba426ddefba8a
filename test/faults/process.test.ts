import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, rm, writeFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, vi } from "vitest";
import { endChild } from "../support/child.ts";
import { COMMAND } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { hangFile } from "../support/hanging-file.ts";
import { basic, HASH } from "../exporter/web/support.ts";
import { healthy, silent } from "./behaviours.ts";
import { runProgram, spawnProgram, type Program } from "./program.ts";
import { entry, EVERY_SECOND, test } from "./stage.ts";

// A process that hangs ends after eight seconds, and many processes start.
vi.setConfig({ testTimeout: 120_000 });

const DROPPED = "appliance_exporter_log_messages_dropped_total";

/** What a scrape says of the polls of lists. */
async function polls(program: Program): Promise<number> {
  return (await program.scrape()).value("appliance_polls_total", { appliance: "a", operation: "vrrp" }) ?? 0;
}

async function expectPollingGoesOn(program: Program): Promise<void> {
  const before = await polls(program);
  await eventually(async () => expect(await polls(program)).toBeGreaterThanOrEqual(before + 2));
}

/** Asks it to end, and expects that it does so in good order. */
async function expectGoodEnd(program: Program): Promise<void> {
  program.kill("SIGTERM");
  const { code, signal } = await program.exit;
  expect([code, signal]).toEqual([0, null]);
}

test.concurrent("fault 26: stderr is closed: log lines are dropped and counted, polling goes on", async ({
  stage,
}) => {
  const server = await stage.server(healthy);
  const config = { polling: { vrrp: EVERY_SECOND }, appliances: [entry("a", server)] };
  const program = await stage.program({ config }, { logLevel: "debug" });
  program.child.stderr?.destroy();
  program.child.stdout?.destroy();
  await eventually(async () => expect((await program.scrape()).value(DROPPED)).toBeGreaterThan(0));
  await expectPollingGoesOn(program);
  await expectGoodEnd(program);
});

test.concurrent("fault 85: the file that checks passwords is gone, or is another one: requests with a password get 500, and the log says why, once", async ({
  stage,
}) => {
  const server = await stage.server(healthy);
  const installed = await stage.folder({ config: {} });
  for (const name of ["bin", "dist", "package.json"])
    await cp(new URL(`../../${name}`, import.meta.url), join(installed, name), { recursive: true });
  const program = await stage.program(
    { config: { appliances: [entry("a", server)] }, web: `basic_auth_users: { u: $2b$${HASH} }` },
    {
      command: join(installed, "bin/appliance-exporter.cjs"),
      args: ["--web.config.file=web.yaml"],
      headers: basic("u:correct horse"),
    },
  );
  await program.scrape();
  const worker = join(installed, "dist/password-worker.js");
  const expectStatus = (password: string, expected: number) =>
    eventually(async () => {
      expect((await fetch(program.url, { headers: basic(`u:${password}`) })).status).toBe(expected);
    });
  await rm(worker);
  await expectStatus("correct horse", 200);
  await expectStatus("one", 500);
  // One that ends without a result.
  await writeFile(worker, "");
  await expectStatus("two", 500);
  const errors = () => program.log().filter(({ level }) => level === "error");
  await eventually(() => expect(errors()).toHaveLength(1));
  expect(errors()[0]).toMatchObject({
    msg: "passwords cannot be checked",
    detail: expect.stringContaining("password-worker.js"),
  });
});

test.concurrent("fault 35: an address in use is one clear line and exit code 1", async ({ stage }) => {
  const server = await stage.server(healthy);
  const folder = await stage.folder({ config: { appliances: [entry("a", server)] } });
  const address = `127.0.0.1:${server.port}`;
  const { code, stdout, stderr } = await runProgram(folder, address);
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: "",
    stderr: `--web.listen-address=${address}: another program listens there already: stop it, or choose another port, such as --web.listen-address=127.0.0.1:${server.port + 1}\n`,
  });
  // Whoever has the port is asked who it is.
  expect(server.requests.filter(({ path }) => path !== "/api/v1/maintenance")).toEqual([]);
});

test.concurrent("fault 36: SIGTERM, twice, during a poll, a scrape and a reload: gone, log flushed, exit code 0", async ({
  stage,
}) => {
  const server = await stage.server(silent);
  // An end that waited for this poll would take longer than the test may.
  const polling = { vrrp: { interval: "1h", timeout: "1h" } };
  const program = await stage.program({ config: { polling, appliances: [entry("a", server)] } });
  await eventually(() => expect(server.requests.length).toBe(1));
  const client = connect(Number(new URL(program.url).port), "127.0.0.1");
  stage.cleanUp(() => client.destroy());
  client.on("error", () => {});
  await once(client, "connect");
  client.write("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".repeat(20));
  program.kill("SIGHUP");
  const end = expectGoodEnd(program);
  await eventually(() => expect(program.log().map(({ msg }) => msg)).toContain("stopping"));
  program.kill("SIGTERM");
  await end;
  await eventually(() => expect(server.openConnections()).toBe(0));
  expect(program.log().at(-1)).toMatchObject({ level: "info", msg: "exporter stopped" });
});

test.concurrent("fault 36: SIGUSR2 is an end as SIGTERM is, and SIGUSR1 changes nothing", async ({
  stage,
}) => {
  const server = await stage.server(silent);
  const polling = { vrrp: { interval: "1h", timeout: "1h" } };
  const program = await stage.program({ config: { polling, appliances: [entry("a", server)] } });
  program.kill("SIGUSR1");
  await expect(program.scrape()).resolves.toBeDefined();
  program.kill("SIGUSR2");
  expect(await program.exit).toMatchObject({ code: 0, signal: null });
  expect(program.log().at(-1)).toMatchObject({ level: "info", msg: "exporter stopped" });
  const before = server.requests.length;
  const url = `--url=http://127.0.0.1:${server.port}`;
  const status = spawn(process.execPath, [COMMAND, "status", url], { stdio: "ignore" });
  stage.cleanUp(() => endChild(status));
  await eventually(() => expect(server.requests.length).toBe(before + 1));
  status.kill("SIGUSR2");
  expect(await once(status, "close")).toEqual([143, null]);
});

test.concurrent("fault 36: Ctrl-C ends check, poll, status and ready at once with 130, also while a file system hangs", async ({
  stage,
}) => {
  const server = await stage.server(silent);
  const polling = { vrrp: { interval: "1h", timeout: "1h" } };
  const folder = await stage.folder({ config: { polling, appliances: [entry("a", server)] } });
  const start = (args: readonly string[]) => {
    const child = spawn(process.execPath, [COMMAND, ...args], { cwd: folder, stdio: "ignore" });
    stage.cleanUp(() => endChild(child));
    return child;
  };
  const url = `--url=http://127.0.0.1:${server.port}`;
  const commands = [
    ["check", "--live"],
    ["poll", "a"],
    ["status", url],
    ["ready", url],
  ];
  for (const [nth, args] of commands.entries()) {
    const child = start(args);
    await eventually(() => expect(server.requests.length).toBe(nth + 1));
    child.kill("SIGINT");
    expect(await once(child, "close")).toEqual([130, null]);
  }
  stage.cleanUp(await hangFile(join(folder, "config.yaml")));
  const hanging = start(["check"]);
  await eventually(() => expect(readFileSync(`/proc/${hanging.pid}/comm`, "utf8")).toBe("appliance-expor\n"));
  hanging.kill("SIGINT");
  expect(await once(hanging, "close")).toEqual([null, "SIGINT"]);
});

test.concurrent("fault 86: a password file and a reload hang: polling goes on, and the process kills itself after SIGTERM and says why", async ({
  stage,
}) => {
  const server = await stage.server(healthy);
  const basicAuth = { username: "monitor", password_file: "password" };
  const hanging = entry("b", server, { http_client: { basic_auth: basicAuth } });
  const program = await stage.program({
    config: { polling: { vrrp: EVERY_SECOND }, appliances: [entry("a", server), hanging] },
    files: { password: "hunter2" },
  });
  for (const name of ["password", "config.yaml"]) stage.cleanUp(await hangFile(join(program.folder, name)));
  program.kill("SIGHUP");
  await eventually(() => expect(program.log()).toContainEqual(expect.objectContaining({ reason: "secret" })));
  await expectPollingGoesOn(program);
  program.kill("SIGTERM");
  const { signal } = await program.exit;
  expect(signal).toBe("SIGKILL");
  expect(program.log().at(-1)).toMatchObject({
    level: "error",
    msg: "fatal: the process cannot end by itself",
    detail: expect.stringMatching(/^after 8 s it still waits for FSReqPromise.*, Worker$/),
  });
});

test.concurrent("fault 86: a configuration file hangs at the start: the process kills itself after SIGTERM and says why", async ({
  stage,
}) => {
  const folder = await stage.folder({ config: { appliances: [] } });
  stage.cleanUp(await hangFile(join(folder, "config.yaml")));
  const { child, exit } = spawnProgram(folder, "127.0.0.1:0", {});
  stage.cleanUp(() => endChild(child));
  await eventually(() => expect(readFileSync(`/proc/${child.pid}/comm`, "utf8")).toBe("appliance-expor\n"));
  child.kill("SIGTERM");
  const { signal, stderr } = await exit;
  expect(signal).toBe("SIGKILL");
  expect(stderr).toContain("fatal: the process cannot end by itself");
  // A signal may come before the log is open, or after.
  expect(stderr).toContain("after 8 s it still waits for FSReqPromise");
});
