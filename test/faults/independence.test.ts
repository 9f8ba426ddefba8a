import { open } from "node:fs/promises";
import { expect } from "vitest";
import type { CreateClient } from "../../src/client/clients.ts";
import { eventually } from "../support/eventually.ts";
import { scrape } from "../support/exporter.ts";
import type { Behaviour } from "../support/fault-server.ts";
import type { Samples } from "../support/samples.ts";
import { answer, healthy } from "./behaviours.ts";
import { pollTimes, RARELY } from "../support/poll-times.ts";
import { entry, PATIENT, test } from "./stage.ts";
import { startRig } from "./rig.ts";

const INTERFACES = 50;

/** MASTER, BACKUP, failure, and so on, a list for each request; the first answer is MASTER. */
function inThreeTurns(): Behaviour {
  const lists = ["MASTER", "BACKUP"].map((state_current) => {
    const priority = state_current === "MASTER" ? "200" : "100";
    const one = {
      vhid: "1",
      vip: "192.0.2.1",
      state_current,
      priority,
      advskew: String(254 - Number(priority)),
    };
    return answer(
      JSON.stringify(Object.fromEntries(Array.from({ length: INTERFACES }, (_, nth) => [`carp${nth}`, one]))),
    );
  });
  const turns = [...lists, answer("", "500 Internal Server Error")];
  let turn = 0;
  return ({ socket, onRequest }) =>
    onRequest(() => {
      socket.write(turns[turn % turns.length] ?? "");
      turn += 1;
    });
}

/** What must be on /metrics after so many polls of an appliance that answers in three turns. */
function expectedAfter(polls: number): readonly unknown[] {
  if (polls === 0) return [undefined, [], [], []];
  if (polls % 3 === 0) return [0, [], [], ["http_status"]];
  const isMaster = polls % 3 === 1;
  return [1, Array(INTERFACES).fill(isMaster ? 1 : 0), Array(INTERFACES).fill(isMaster ? 200 : 100), []];
}

function pictureOf(samples: Samples, appliance: string): readonly unknown[] {
  return [
    samples.value("appliance_up", { appliance }),
    samples.all("vrrp_is_master", { appliance }).map(({ value }) => value),
    samples.all("vrrp_priority", { appliance }).map(({ value }) => value),
    samples.all("appliance_poll_failure_info", { appliance }).map(({ labels }) => labels["reason"]),
  ];
}

/** A client whose answers to website tests no decoder can stomach. */
function spoilTests(createClient: CreateClient): CreateClient {
  return (endpoint) => {
    const client = createClient(endpoint);
    return {
      ...client,
      get: async (...request) => {
        const got = await client.get(...request);
        if (!got.ok || !request[0].endsWith("/1/test")) return got;
        const bug = { get: () => expect.unreachable("a bug") };
        const bytes = Object.defineProperty(got.value.bytes, "byteLength", bug);
        return { ok: true, value: { ...got.value, bytes } };
      },
    };
  };
}

test.concurrent("fault 11: no name resolves and look-ups hold their threads: compressed scrapes and password files still come", async ({
  stage,
}) => {
  const good = await stage.server(healthy);
  const path = await stage.emptyFifo();
  const unresolved = Array.from({ length: 10 }, (_, nth) => ({
    name: `unresolved-${nth}`,
    base_url: `https://appliance-${nth}.invalid`,
  }));
  const folder = await stage.folder({
    config: {
      polling: { vrrp: PATIENT },
      http_client: { basic_auth: { username: "monitor", password_file: "password" } },
      appliances: [entry("good", good), ...unresolved],
    },
    files: { password: "secret" },
  });
  const rig = await startRig({
    folder,
    // Opening a pipe that nobody writes to holds a thread of the pool, as a look-up does whose server is silent.
    resolveAll: async () => {
      const handle = await open(path, "r");
      await handle.close();
      return [];
    },
  });
  stage.cleanUp(rig.stop);
  const samples = await eventually(async () => {
    const scraped = await scrape(rig.url);
    expect(scraped.value("appliance_polls_total", { appliance: "good" })).toBeGreaterThanOrEqual(4);
    return scraped;
  });
  expect(samples.value("appliance_poll_failures_total", { appliance: "good" })).toBe(0);
  const reasons = samples.all("appliance_poll_failure_info").map(({ labels }) => labels["reason"]);
  expect(reasons).toEqual(unresolved.map(() => "dns"));
});

test.concurrent("fault 22: whatever is scraped while polls end belongs to one poll", async ({ stage }) => {
  const names = Array.from({ length: 10 }, (_, nth) => `a-${nth}`);
  const servers = await Promise.all(names.map(() => stage.server(inThreeTurns())));
  const appliances = names.map((name, nth) => entry(name, servers[nth] ?? { port: 0 }));
  const exporter = await stage.exporter({ config: { polling: { vrrp: RARELY }, appliances } });
  const over = new AbortController();
  const polled = pollTimes(exporter, { appliances: names, times: 5 }).finally(() => over.abort());
  while (!over.signal.aborted) {
    const samples = await exporter.scrape();
    const polls = names.map(
      (appliance) => samples.value("appliance_polls_total", { appliance }) ?? Number.NaN,
    );
    expect(names.map((appliance) => pictureOf(samples, appliance))).toEqual(polls.map(expectedAfter));
  }
  await polled;
});

test.concurrent("fault 37: a bug in the decoder of one operation is `internal` for that operation alone", async ({
  stage,
}) => {
  const server = await stage.server(healthy);
  const appliances = [entry("a", server, { websites: [1, 2] }), entry("b", server, { websites: [2] })];
  const polling = { vrrp: PATIENT, websites: PATIENT };
  const rig = await startRig({
    folder: await stage.folder({ config: { polling, appliances } }),
    wrap: spoilTests,
  });
  stage.cleanUp(rig.stop);
  const samples = await eventually(async () => {
    const scraped = await scrape(rig.url);
    for (const { value } of scraped.all("appliance_polls_total")) expect(value).toBeGreaterThanOrEqual(2);
    return scraped;
  });
  const failures = samples.all("appliance_poll_failure_info");
  expect(failures.map(({ labels }) => [labels["appliance"], labels["website_id"], labels["reason"]])).toEqual(
    [["a", "1", "internal"]],
  );
  expect(samples.all("appliance_up").map(({ value }) => value)).toEqual([1, 1]);
  expect(samples.all("website_up").map(({ value }) => value)).toEqual([1, 1]);
  const told = rig.log.lines.filter(({ msg }) => msg === "polling fails");
  expect(
    told.map(({ level, appliance, operation, reason }) => [level, appliance, operation, reason]),
  ).toEqual([["warn", "a", "website_test/1", "internal"]]);
});
