import { execFileSync } from "node:child_process";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, vi } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { Behaviour } from "../support/fault-server.ts";
import { toolPath } from "../support/tool.ts";
import { answer, healthy, LIST } from "./behaviours.ts";
import type { Program } from "./program.ts";
import { entry, test } from "./stage.ts";

// Polls of a hundred appliances come due several times, three seconds apart.
vi.setConfig({ testTimeout: 120_000 });

/** Each appliance has a path of its own on the server. */
function pathEntry(name: string, { port }: { readonly port: number }) {
  return { ...entry(name, { port }), base_url: `http://127.0.0.1:${port}/${name}` };
}

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `a-${index}`);

async function failuresOf(program: Program): Promise<readonly string[]> {
  const counted = (await program.scrape()).all("appliance_exporter_poll_failures_total");
  return counted.flatMap(({ labels, value }) => (value > 0 ? [`${labels["reason"]} ${value}`] : []));
}

/** Waits until each appliance was polled so often. */
function polledEach(program: Program, count: number, polls: number): Promise<void> {
  return eventually(
    async () => {
      const polled = (await program.scrape()).all("appliance_polls_total", { operation: "vrrp" });
      expect(polled.filter(({ value }) => value >= polls)).toHaveLength(count);
    },
    { timeoutMs: 60_000, everyMs: 500 },
  );
}

test.concurrent("fault 38: the process stands still while twenty appliances answer: no poll fails, and no connection is lost", async ({
  stage,
}) => {
  let onRequested: (() => void) | undefined;
  const slow: Behaviour = ({ socket, onRequest }) =>
    onRequest(() => {
      onRequested?.();
      setTimeout(() => socket.write(answer(LIST)), 200);
    });
  const server = await stage.server(slow);
  const appliances = names(20).map((name) => pathEntry(name, server));
  const polling = { vrrp: { interval: "3s", timeout: "2s" } };
  // Members of one cluster are polled at the same moment.
  const program = await stage.program({ config: { polling, clusters: [{ name: "all", appliances }] } });
  await polledEach(program, 20, 1);
  const connectionsBefore = server.connections();
  await new Promise<void>((resolve) => (onRequested = resolve));
  program.kill("SIGSTOP");
  await new Promise((resolve) => setTimeout(resolve, 3000));
  program.kill("SIGCONT");
  await polledEach(program, 20, 3);
  expect(await failuresOf(program)).toEqual([]);
  expect(server.connections()).toBe(connectionsBefore);
});

test.concurrent("fault 40: 64 descriptors for 100 appliances: all are polled over fewer connections, scrapes are answered, and a warning has the numbers", async ({
  stage,
}) => {
  const server = await stage.server(healthy);
  const config = (count: number): unknown => ({
    polling: { vrrp: { interval: "3s", timeout: "3s" } },
    http_client: { basic_auth: { username: "monitor", password_file: "password" } },
    appliances: names(count).map((name) => pathEntry(name, server)),
  });
  const program = await stage.program(
    { config: config(60), files: { password: "hunter2" } },
    { headers: { connection: "close" }, descriptors: 64 },
  );
  await polledEach(program, 60, 1);
  // One that ends for another counts until the server has seen it.
  await eventually(() => expect(server.openConnections()).toBe(24));
  // In one step: a poll that finds the file empty would fail as `secret`.
  await writeFile(join(program.folder, "next"), "hunter3");
  await rename(join(program.folder, "next"), join(program.folder, "password"));
  await writeFile(join(program.folder, "config.yaml"), JSON.stringify(config(100)));
  program.kill("SIGHUP");
  await polledEach(program, 100, 2);
  expect(await failuresOf(program)).toEqual([]);
  await eventually(() => expect(server.openConnections()).toBeLessThanOrEqual(24));
  const warnings = program.log().filter((line) => line.level === "warn" && "neededLimit" in line);
  // On a busy machine the watch of the files loads the changed one too.
  const about = { limit: 64, connections: 24 };
  expect(warnings).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ ...about, appliances: 60, neededLimit: 604 }),
      expect.objectContaining({ ...about, appliances: 100, neededLimit: 644 }),
    ]),
  );
});

test.concurrent("fault 82: the limit of open files is lowered to 64 while 100 appliances have connections: polls, scrapes and reloads go on", async ({
  stage,
}) => {
  const server = await stage.server(healthy);
  const config = (count: number): unknown => ({
    polling: { vrrp: { interval: "3s", timeout: "3s" } },
    http_client: { basic_auth: { username: "monitor", password_file: "password" } },
    appliances: names(count).map((name) => pathEntry(name, server)),
  });
  const program = await stage.program(
    { config: config(100), files: { password: "hunter2" } },
    { headers: { connection: "close" }, descriptors: 1024 },
  );
  await eventually(() => expect(server.openConnections()).toBe(100));
  execFileSync(toolPath("prlimit"), ["--nofile=64:1024", `--pid=${program.child.pid}`]);
  await writeFile(join(program.folder, "config.yaml"), JSON.stringify(config(101)));
  await eventually(async () => {
    program.kill("SIGHUP");
    expect((await program.scrape()).value("appliance_exporter_appliances")).toBe(101);
  });
  const before = await failuresOf(program);
  await polledEach(program, 101, 3);
  expect(await failuresOf(program)).toEqual(before);
  expect(server.openConnections()).toBeLessThanOrEqual(24);
});
