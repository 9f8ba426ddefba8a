import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test, vi } from "vitest";
import { clientOf, LONG_MS, shortly } from "./support.ts";

// Polls wait on after stalls.
vi.setConfig({ testTimeout: 30_000 });

/**
 * A server in its own thread, which answers while the event loop of the test stalls: at once, or, if the path
 * says so, after some milliseconds or on another request. Answers contain the number of connections so far.
 */
const SERVER = `
const { createServer } = require("node:http");
const { parentPort } = require("node:worker_threads");
let connections = 0;
let waiting;
const server = createServer((request, response) => {
  const answer = () => response.end(String(connections));
  const [, how] = request.url.split("/");
  if (how === "when-told") waiting = answer;
  else if (how === "tell") [waiting, answer].forEach((send) => send());
  else setTimeout(answer, Number(how));
});
server.on("connection", () => (connections += 1));
server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

async function startServer() {
  const worker = new Worker(SERVER, { eval: true });
  onTestFinished(async () => void (await worker.terminate()));
  const [port] = await once(worker, "message");
  const client = clientOf(`http://127.0.0.1:${port}`);
  // The connection is made, and kept.
  expect(shortly(await client.get("/0", LONG_MS))).toBe("1");
  return client;
}

async function rounds(): Promise<void> {
  for (let i = 0; i < 3; i += 1) await setImmediate();
}

/** Nobody notifies it: a wait for it stalls the event loop, and leaves the processor to others. */
const NOBODY = new Int32Array(new SharedArrayBuffer(4));

/** Stalls the event loop once the request is sent. */
async function blockLoop(ms: number): Promise<void> {
  await rounds();
  Atomics.wait(NOBODY, 0, 0, ms);
}

test.each([
  { name: "a little longer than the timeout", stallMs: 900 },
  { name: "much longer than it", stallMs: 2500 },
])("an answer that arrived during a stall $name is read, and its connection is kept", async ({ stallMs }) => {
  const client = await startServer();
  const answer = client.get("/300", 600);
  await blockLoop(stallMs);
  expect(shortly(await answer)).toBe("1");
  expect(shortly(await client.get("/0", LONG_MS))).toBe("1");
});

test("a poll without an answer waits on after stalls, and its connection is kept", async () => {
  const client = await startServer();
  const answer = client.get("/when-told", 1000);
  for (let stall = 0; stall < 2; stall += 1) await blockLoop(2100);
  // Over another connection.
  expect(shortly(await client.get("/tell", LONG_MS))).toBe("2");
  expect(shortly(await answer)).toBe("2");
});

test("the wait for a connection is before the deadline begins, and all polls are answered", async () => {
  const client = await startServer();
  let started = 0;
  const onStarted = (): void => void (started += 1);
  const answers = Array.from({ length: 100 }, () => client.get("/0", LONG_MS, { onStarted }));
  await setImmediate();
  expect(started).toBeLessThan(100);
  expect((await Promise.all(answers)).every(({ ok }) => ok)).toBe(true);
  expect(started).toBe(100);
});
