import { expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { ExporterUnderTest } from "../support/exporter.ts";
import type { Behaviour, FaultServer } from "../support/fault-server.ts";
import { answer, healthy, LIST } from "./behaviours.ts";
import { entry, EVERY_SECOND, test } from "./stage.ts";

/** Enters whoever knows this password, and nobody else. */
function enters(password: string): Behaviour {
  return ({ socket, onRequest }) =>
    onRequest(({ head }) => {
      const isRight = head.includes(basic(password));
      socket.write(isRight ? answer(LIST) : answer("{}", "401 Unauthorized"));
    });
}

function basic(password: string): string {
  return `authorization: Basic ${Buffer.from(`monitor:${password}`).toString("base64")}`;
}

function setupWith(server: FaultServer, password: string, more = {}) {
  const http_client = { basic_auth: { username: "monitor", password_file: "password" } };
  return {
    config: {
      polling: { vrrp: EVERY_SECOND, websites: EVERY_SECOND },
      http_client,
      appliances: [entry("a", server, more)],
    },
    files: { password },
  };
}

const MINUTELY = { interval: "1m", timeout: "1m" };
const POLLING = { vrrp: MINUTELY, websites: MINUTELY };

/** How many polls came due, and how many of them a pause took. */
async function dueSoFar(exporter: ExporterUnderTest) {
  const samples = await exporter.scrape();
  const skipped = samples.all("appliance_exporter_polls_skipped_total");
  const all = [...samples.all("appliance_polls_total"), ...skipped];
  return {
    due: all.reduce((sum, { value }) => sum + value, 0),
    paused: skipped.find(({ labels }) => labels["reason"] === "backoff")?.value,
    inFlight: samples.value("appliance_exporter_polls_in_flight"),
  };
}

/** Lets time leap by what makes everything due once that is polled each minute, and waits until it is over. */
async function leapAMinute(exporter: ExporterUnderTest): Promise<void> {
  const before = await dueSoFar(exporter);
  exporter.leap(61_000);
  await eventually(async () => {
    const { due, inFlight } = await dueSoFar(exporter);
    expect(due).toBeGreaterThan(before.due);
    expect(inFlight).toBe(0);
  });
}

/** Until the third refusal: after the second the pause is two minutes, after the third it is four. */
async function untilPaused(
  exporter: ExporterUnderTest,
  server: FaultServer,
  operations: number,
): Promise<void> {
  await eventually(async () => {
    expect(server.requests.length).toBe(1);
    expect(await dueSoFar(exporter)).toMatchObject({ due: operations, inFlight: 0 });
  });
  for (let nth = 0; nth < 4; nth += 1) await leapAMinute(exporter);
  await eventually(() => expect(server.requests.length).toBe(3));
}

test.concurrent("fault 8: refused credentials are tried ever less often, for all operations, until the password file changes", async ({
  stage,
}) => {
  const server = await stage.server(enters("right"));
  const exporter = await stage.exporter(setupWith(server, "wrong", { websites: [1, 2], polling: POLLING }));
  await untilPaused(exporter, server, 3);
  expect(server.requests.filter(({ path }) => path.endsWith("/test"))).toEqual([]);

  expect((await dueSoFar(exporter)).paused).toBeGreaterThan(0);
  await exporter.write("password", "right");
  await leapAMinute(exporter);
  await eventually(async () => expect((await exporter.scrape()).value("appliance_up")).toBe(1));
  const { paused } = await dueSoFar(exporter);
  await leapAMinute(exporter);
  expect((await dueSoFar(exporter)).paused).toBe(paused);
});

test.concurrent("fault 8: refused credentials are tried again when the appliance's entry changes", async ({
  stage,
}) => {
  const server = await stage.server(enters("right"));
  const setup = setupWith(server, "wrong", { polling: POLLING });
  const exporter = await stage.exporter(setup);
  await untilPaused(exporter, server, 1);
  const changed = {
    ...setup.config,
    appliances: [entry("a", server, { polling: POLLING, labels: { site: "x" } })],
  };
  await exporter.write("config.yaml", JSON.stringify(changed));
  expect(await exporter.reload()).toBe(true);
  await leapAMinute(exporter);
  await eventually(() => expect(server.requests.length).toBe(4));
});

test.concurrent("fault 29: a password file is trimmed, re-read when it changes, and `secret` while it is empty", async ({
  stage,
}) => {
  const server = await stage.server(healthy);
  const exporter = await stage.exporter(setupWith(server, "first\r\n"));
  const isUp = async (): Promise<void> => expect((await exporter.scrape()).value("appliance_up")).toBe(1);
  await eventually(isUp);
  expect(server.requests[0]?.head).toContain(basic("first"));

  const before = server.requests.length;
  await exporter.write("password", "second\r\n");
  await eventually(() => expect(server.requests.length).toBeGreaterThan(before + 1));
  // One poll may have been under way when the file was written.
  expect(server.requests[before + 1]?.head).toContain(basic("second"));

  await exporter.write("password", "\n");
  await eventually(async () => {
    const failures = (await exporter.scrape()).all("appliance_poll_failure_info");
    expect(failures.map(({ labels }) => labels["reason"])).toEqual(["secret"]);
  });
  const asked = server.requests.length;
  await eventually(async () => {
    const polls = (await exporter.scrape()).value("appliance_poll_failures_total", { operation: "vrrp" });
    expect(polls).toBeGreaterThanOrEqual(2);
  });
  expect(server.requests.length).toBe(asked);
  await exporter.write("password", "second");
  await eventually(isUp);
  expect(exporter.log.text()).not.toMatch(/first|second/);
});
