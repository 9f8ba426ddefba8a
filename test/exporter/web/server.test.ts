import { once } from "node:events";
import { Agent, createServer, type RequestListener, type ServerResponse } from "node:http";
import { expect, onTestFinished, test, vi } from "vitest";
import { createOutgoing, text } from "../../../src/exporter/web/reply.ts";
import type { ListenAddress } from "../../../src/exporter/web/listen.ts";
import { createWebServer } from "../../../src/exporter/web/server.ts";
import { listen } from "../../appliance/support.ts";
import { closedPort } from "../../support/fault-server.ts";
import { ask, connectTo, HASH, held, routes, serve, serveOn, startSecured } from "./support.ts";

const LOOPBACK = "127.0.0.1";

const start = (handler: RequestListener = routes()) => serveOn([0], handler);

test("every address is served, and the result has its actual port", async () => {
  const { addresses, port, otherPort } = await serveOn([0, 0], routes());
  expect(addresses).toEqual([`${LOOPBACK}:${port}`, `${LOOPBACK}:${otherPort}`]);
  for (const each of [port, otherPort]) expect((await ask(each, "/-/healthy")).status).toBe(200);
});

test("an address in use is an error, and no other address stays open", async () => {
  const { port: taken } = await start();
  const free = await closedPort();
  const started = await createWebServer({ onPasswordError: () => {} }).start(
    [
      { host: LOOPBACK, port: free },
      { host: LOOPBACK, port: taken },
    ],
    routes(),
  );
  const address = `${LOOPBACK}:${taken}`;
  const other = `--web.listen-address=${LOOPBACK}:${taken + 1}`;
  const message = `an appliance-exporter listens there already: stop it, or choose another port, such as ${other}`;
  expect(started).toEqual({
    ok: false,
    errors: [{ file: `--web.listen-address=${address}`, path: "", message }],
  });
  await expect(ask(free, "/")).rejects.toMatchObject({ code: "ECONNREFUSED" });
});

/** The error of a server that cannot listen. */
async function messageAt(address: ListenAddress): Promise<string | undefined> {
  const started = await createWebServer({ onPasswordError: () => {} }).start([address], routes());
  return started.ok ? undefined : started.errors[0]?.message;
}

test.each([
  ["with passwords", `basic_auth_users: { monitor: $2y$${HASH} }`],
  ["without passwords", "{}"],
])("the address of an exporter %s is recognized", async (_, yaml) => {
  const { port } = await startSecured(yaml);
  expect(await messageAt({ host: LOOPBACK, port })).toMatch(
    /^an appliance-exporter listens there already: stop it/,
  );
});

test.each([
  [
    "another server",
    { host: LOOPBACK },
    /^another program listens there already: stop it, or choose another port, such as --web\.listen-address=127\.0\.0\.1:/,
  ],
  [
    "an address of another host",
    { host: "192.0.2.1", port: 0 },
    "this host has no address 192.0.2.1: write one that it has",
  ],
  [
    "an unknown name",
    { host: "nowhere.invalid", port: 0 },
    "the name nowhere.invalid is unknown here: write an address",
  ],
])("at %s, the server says what to do", async (_, address, message) => {
  const port = await listen(createServer((__, response) => void response.end("hello")));
  expect(await messageAt({ port, ...address })).toMatch(message);
});

test("a connection is kept open between scrapes", async () => {
  const { port } = await start();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const first = await ask(port, "/metrics", { agent });
  expect(first.headers["keep-alive"]).toBe("timeout=125");
  expect((await ask(port, "/metrics", { agent })).status).toBe(200);
});

/** Responds to `/held` when the test releases it, and to other paths at once. */
function holding() {
  const { promise, release } = held<ServerResponse>();
  const handler: RequestListener = ({ url }, response) => {
    if (url === "/held") release(response);
    else response.end("done");
  };
  return { handler, answering: promise };
}

test.each([
  { name: "idle connections", request: "GET / HTTP/1.1\r\nHost: x\r\n\r\n", isAnswered: true },
  { name: "connections that never sent a request", request: "", isAnswered: false },
  { name: "connections in the middle of a request", request: "GET / HTTP/1.1\r\n", isAnswered: false },
])("a stop closes $name at once and waits for a pending response", async ({ request, isAnswered }) => {
  const { handler, answering } = holding();
  const { port, stop } = await start(handler);
  const other = await connectTo(port);
  other.write(request);
  if (isAnswered) await once(other, "data");
  const otherClosed = once(other, "close");
  const answer = ask(port, "/held");
  await answering;
  const stopped = stop();
  await otherClosed;
  (await answering).end("done");
  expect((await answer).body.toString()).toBe("done");
  await stopped;
  await expect(ask(port, "/")).rejects.toMatchObject({ code: "ECONNREFUSED" });
});

test("a stop closes a kept connection after the pending response, although another request waits", async () => {
  const first = held<ServerResponse>();
  const last = held<ServerResponse>();
  const waiting = [first, last];
  const { port, stop } = await start((_, response) => waiting.shift()?.release(response));
  const kept = await connectTo(port);
  const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  kept.write(request);
  await first.promise;
  kept.write(request);
  const answer = ask(port, "/");
  await last.promise;
  const stopped = stop();
  (await first.promise).end("one");
  const [one] = await once(kept, "data");
  expect(String(one)).toMatch(/one$/);
  await once(kept, "close");
  (await last.promise).end("two");
  expect((await answer).body.toString()).toBe("two");
  await stopped;
});

test("a stop does not abort a response that is being sent", async () => {
  const LENGTH = 20_000_000;
  const sendReply = createOutgoing();
  const reply = text(200, "x".repeat(LENGTH));
  const { port, stop } = await start((request, response) => void sendReply(request, response, reply));
  const slow = await connectTo(port);
  slow.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await once(slow, "readable");
  const stopped = stop();
  let received = 0;
  for await (const chunk of slow) received += Buffer.from(chunk).length;
  expect(received).toBeGreaterThan(LENGTH);
  await stopped;
});

test("a stop does not wait forever for a response", async () => {
  const { handler, answering } = holding();
  const { port, stop } = await start(handler);
  const failed = ask(port, "/held").then(
    () => undefined,
    (error: unknown) => error,
  );
  await answering;
  await stop();
  expect(await failed).toMatchObject({ code: "ECONNRESET" });
});

function holdTimers(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
}

test("a response that is not sent within 30 seconds is aborted, even if the client keeps reading", async () => {
  holdTimers();
  const { handler, answering } = holding();
  const { port } = await start(handler);
  const reader = await connectTo(port);
  reader.write("GET /held HTTP/1.1\r\nHost: x\r\n\r\n");
  const response = await answering;
  for (const word of ["one", "two", "three"]) {
    response.write(word);
    const [chunk] = await once(reader, "data");
    expect(String(chunk)).toContain(word);
    vi.advanceTimersByTime(9999);
  }
  vi.advanceTimersByTime(3);
  await once(reader, "close");
});

test("a response that begins after minutes is sent", async () => {
  holdTimers();
  const { handler, answering } = holding();
  const { port } = await start(handler);
  const answer = ask(port, "/held", { method: "POST" });
  const response = await answering;
  // Node's own timer of the connection is not held.
  expect(response.socket?.timeout ?? 0).toBe(0);
  vi.advanceTimersByTime(180_000);
  response.end("done");
  expect((await answer).body.toString()).toBe("done");
});

test("the end of a request is read although the response is pending, so that the request is in time", async () => {
  const pending = held<ServerResponse>();
  const { port } = await start((_, response) => pending.release(response));
  const client = await connectTo(port);
  client.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n");
  const response = await pending.promise;
  expect(response.req.complete).toBe(false);
  client.write("{}");
  await once(response.req, "end");
  // A stop would wait for it.
  response.end();
});

test.each([
  [16_000, 200],
  [17_000, 431],
])("a request with a cookie of %d bytes is answered with %d", async (length, status) => {
  const port = await serve((_, response) => void response.end("ok"));
  expect((await ask(port, "/", { headers: { cookie: "a".repeat(length) } })).status).toBe(status);
});
