import { request } from "node:http";
import { expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import { HASH } from "../exporter/web/support.ts";
import { healthy } from "./behaviours.ts";
import { callTimes } from "./callers.ts";
import { entry, EVERY_SECOND, test, type Stage } from "./stage.ts";

const PASSWORD = "correct horse";
const KNOWN = { authorization: `Basic ${Buffer.from(`known:${PASSWORD}`).toString("base64")}` };
/** Some 60 ms of work on a machine of our day. */
const EXPENSIVE = `$2b$10$${".".repeat(53)}`;
const USERS = `basic_auth_users: { known: $2b$${HASH}, one: $2b$${HASH}, other: $2b$${HASH}, guessed: "${EXPENSIVE}" }`;
const WITH_USERS = { args: ["--web.config.file=web.yaml"], headers: KNOWN };
const SMALL_HEAP = { NODE_OPTIONS: "--max-old-space-size=128" };

/** The program with a small heap and with users, and one appliance that it polls each second. */
async function startSmall(stage: Stage) {
  const server = await stage.server(healthy);
  const config = { polling: { vrrp: EVERY_SECOND }, appliances: [entry("a", server)] };
  const program = await stage.program({ config, web: USERS }, { ...WITH_USERS, env: SMALL_HEAP });
  return { server, program };
}

/** A client at an address of this machine. */
function askFrom(localAddress: string, url: string, credentials: string): Promise<number> {
  const authorization = `Basic ${Buffer.from(credentials).toString("base64")}`;
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/metrics`, { localAddress, agent: false, headers: { authorization } });
    sent.on("response", (response) => resolve(response.resume().statusCode ?? 0));
    sent.on("error", reject);
    sent.end();
  });
}

/** Clients that guess passwords until the test ends. Returns the statuses that they get. */
function startGuessing(stage: Stage, url: string, count: number): readonly number[] {
  const statuses: number[] = [];
  const over = new AbortController();
  stage.cleanUp(() => over.abort());
  const guess = async (nth: number): Promise<void> => {
    for (let again = 0; !over.signal.aborted; again += 1) {
      const status = await askFrom("127.0.0.1", url, `guessed:${nth}-${again}`).catch(() => 0);
      statuses.push(status);
    }
  };
  for (let nth = 0; nth < count; nth += 1) void guess(nth);
  return statuses;
}

/** Scrapes are answered, and a poll is made after each. */
async function expectScrapesAndPolls({ server, program }: Awaited<ReturnType<typeof startSmall>>) {
  for (let nth = 0; nth < 5; nth += 1) {
    await program.scrape();
    const before = server.requests.length;
    await eventually(() => expect(server.requests.length).toBeGreaterThan(before));
  }
}

test.concurrent("fault 45: clients pipeline thousands of scrapes and read nothing: 128 MB of heap are enough, scrapes and polls go on", async ({
  stage,
}) => {
  const small = await startSmall(stage);
  const callers = await callTimes(stage, small.program, 300);
  for (const { socket } of callers) {
    socket.pause();
    const authorization = `Authorization: ${KNOWN.authorization}`;
    socket.write(`GET /metrics HTTP/1.1\r\nHost: x\r\n${authorization}\r\n\r\n`.repeat(10_000));
  }
  // So many scrapes at once get 503, the first time.
  await eventually(small.program.scrape, { timeoutMs: 30_000 });
  await expectScrapesAndPolls(small);
  expect(small.program.child.exitCode).toBeNull();
});

test.concurrent("fault 45: 100 clients request pages without a pause: scrapes and polls go on", async ({
  stage,
}) => {
  const small = await startSmall(stage);
  const over = new AbortController();
  stage.cleanUp(() => over.abort());
  let read = 0;
  const askOnAndOn = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await fetch(small.program.url, { headers: KNOWN })
        .then((response) => response.text())
        .catch(() => "");
      read += 1;
    }
  };
  for (let nth = 0; nth < 100; nth += 1) void askOnAndOn();
  await eventually(() => expect(read).toBeGreaterThan(100));
  await expectScrapesAndPolls(small);
});

test.concurrent("fault 47: 150 clients guess passwords: a scraper whose password was never checked gets in, from another address or as another user", async ({
  stage,
}) => {
  const small = await startSmall(stage);
  const { program } = small;
  const statuses = startGuessing(stage, program.url, 150);
  await eventually(() => expect(statuses.length).toBeGreaterThan(0));
  // On a busy machine, a check or two take more than the five seconds that a password waits: a scraper asks again then.
  const getsIn = (address: string, user: string): Promise<void> =>
    eventually(async () => expect(await askFrom(address, program.url, `${user}:${PASSWORD}`)).toBe(200));
  await getsIn("127.0.0.2", "one");
  await getsIn("127.0.0.1", "other");
  await expectScrapesAndPolls(small);
  // Refused, or turned away while others are checked, or too late: on a busy machine a client's request takes over five seconds.
  expect([401, 408, 503]).toEqual(expect.arrayContaining([...new Set(statuses)]));
});
