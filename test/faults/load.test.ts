import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import { createAuthority } from "../support/certificates.ts";
import { startFaultServer, type Behaviour } from "../support/fault-server.ts";
import { answer, healthy, LIST } from "./behaviours.ts";
import { limitDescriptors, type Program } from "./program.ts";
import { entry, test } from "./stage.ts";

/** Each appliance has a path of its own on the server. */
function secureEntry(name: string, { port }: { readonly port: number }) {
  return { name, base_url: `https://127.0.0.1:${port}/${name}` };
}

function plainEntry(name: string, { port }: { readonly port: number }) {
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
    { timeoutMs: 60_000, everyMs: 200 },
  );
}

/** Lets the process stand still for so long, from now on. */
function standStill(program: Program, ms: number): Promise<void> {
  program.kill("SIGSTOP");
  return new Promise((resolve) => {
    setTimeout(() => {
      program.kill("SIGCONT");
      resolve();
    }, ms);
  });
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
  const appliances = names(20).map((name) => plainEntry(name, server));
  const polling = { vrrp: { interval: "3s", timeout: "2s" } };
  // Members of one cluster are polled at the same moment.
  const program = await stage.program({ config: { polling, clusters: [{ name: "all", appliances }] } });
  await polledEach(program, 20, 1);
  const connectionsBefore = server.connections();
  await new Promise<void>((resolve) => {
    onRequested = () => {
      onRequested = undefined;
      void standStill(program, 6000).then(resolve);
    };
  });
  await polledEach(program, 20, 3);
  expect(await failuresOf(program)).toEqual([]);
  expect(server.connections()).toBe(connectionsBefore);
});

test.concurrent("fault 38: the process stands still while a reload makes 200 connections: no poll fails", async ({
  stage,
}) => {
  const authority = await createAuthority();
  const server = await startFaultServer(healthy, await authority.issue());
  stage.cleanUp(server.stop);
  const config = (count: number): unknown => ({
    polling: { vrrp: { interval: "15s", timeout: "4s" } },
    http_client: { tls_config: { ca_file: "ca.pem" } },
    // Members of one cluster are polled at the same moment.
    clusters: [{ name: "all", appliances: names(count).map((name) => secureEntry(name, server)) }],
  });
  const program = await stage.program({ config: config(1), files: { "ca.pem": authority.cert } });
  await polledEach(program, 1, 1);
  await writeFile(join(program.folder, "config.yaml"), JSON.stringify(config(200)));
  program.kill("SIGHUP");
  await eventually(() => expect(server.connections()).toBeGreaterThan(10), { everyMs: 1 });
  await standStill(program, 5000);
  await polledEach(program, 200, 1);
  expect(await failuresOf(program)).toEqual([]);
  // A hundredth of the appliances has the hourly full handshake within half a minute, over a new connection.
  expect(server.connections()).toBeLessThanOrEqual(210);
});

test.concurrent("fault 40: 64 descriptors for 100 appliances: all are polled over fewer connections, scrapes are answered, and a warning has the numbers", async ({
  stage,
}) => {
  const server = await stage.server(healthy);
  const config = (count: number): unknown => ({
    polling: { vrrp: { interval: "3s", timeout: "3s" } },
    http_client: { basic_auth: { username: "monitor", password_file: "password" } },
    appliances: names(count).map((name) => plainEntry(name, server)),
  });
  const program = await stage.program(
    { config: config(60), files: { password: "hunter2" } },
    { headers: { connection: "close" } },
  );
  await polledEach(program, 60, 1);
  await limitDescriptors(program, 64);
  await eventually(() => expect(server.openConnections()).toBe(24), { timeoutMs: 30_000 });
  // The lower limit is noticed within a second; until then a poll may find no descriptor, which is `local`.
  const failuresBefore = await failuresOf(program);
  expect(failuresBefore.filter((failure) => !failure.startsWith("local "))).toEqual([]);
  await writeFile(join(program.folder, "password"), "hunter3");
  await writeFile(join(program.folder, "config.yaml"), JSON.stringify(config(100)));
  program.kill("SIGHUP");
  await polledEach(program, 100, 3);
  expect(await failuresOf(program)).toEqual(failuresBefore);
  expect(server.openConnections()).toBeLessThanOrEqual(24);
  const warnings = program.log().filter((line) => line.level === "warn" && "neededLimit" in line);
  expect(warnings).toMatchObject([
    { limit: 64, connections: 24, appliances: 60, neededLimit: 111 },
    { limit: 64, connections: 24, appliances: 100, neededLimit: 165 },
  ]);
});
