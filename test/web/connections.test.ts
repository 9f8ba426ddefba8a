import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { connect, type Socket } from "node:net";

import { expect, onTestFinished, test } from "vitest";

import { createConnections } from "../../src/web/connections.ts";
import { eventually } from "../support/eventually.ts";

const HELLO: RequestListener = (_, response) => void response.end("hello");
const REQUEST = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

async function serve(bound: (server: Server) => void, handler: RequestListener = HELLO): Promise<number> {
  const server = createServer(handler);
  bound(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** Sends a request and waits for the answer's first bytes. */
async function use(socket: Socket): Promise<string> {
  socket.write(REQUEST);
  const [data] = await once(socket, "data");
  return String(data);
}

test("one connection too many ends the one that has been idle for longest", async () => {
  const port = await serve(createConnections(2).bound);
  const [first, second] = [await open(port), await open(port)];
  expect(await use(first)).toMatch(/hello$/);
  const secondClosed = once(second, "close");
  const third = await open(port);
  await secondClosed;
  expect(await use(third)).toMatch(/hello$/);
  expect(await use(first)).toMatch(/hello$/);
});

test("a thousand idle connections do not keep a scrape out", async () => {
  const port = await serve(createConnections(50).bound);
  for (let i = 0; i < 200; i += 1) await open(port);
  expect(await use(await open(port))).toMatch(/hello$/);
});

test("a connection in the middle of an answer is not ended; where none is idle, the new one is", async () => {
  const finish: (() => void)[] = [];
  const port = await serve(
    createConnections(2).bound,
    (_, response) => void finish.push(() => response.end("hello")),
  );
  const busy = [await open(port), await open(port)];
  for (const socket of busy) socket.write(REQUEST);
  await eventually(() => expect(finish).toHaveLength(2));
  const refused = connect(port, "127.0.0.1");
  refused.on("error", () => {});
  await once(refused, "close");
  const answers = busy.map((socket) => once(socket, "data"));
  for (const end of finish) end();
  for (const [data] of await Promise.all(answers)) expect(String(data)).toMatch(/hello$/);
});

test("a connection that has closed leaves its place", async () => {
  const port = await serve(createConnections(1).bound);
  const first = await open(port);
  first.end();
  await once(first, "close");
  const second = await open(port);
  expect(await use(second)).toMatch(/hello$/);
  expect(await use(second)).toMatch(/hello$/);
});

test("servers that share the limiter share the bound", async () => {
  const { bound } = createConnections(1);
  const [one, other] = [await serve(bound), await serve(bound)];
  const first = await open(one);
  const firstClosed = once(first, "close");
  expect(await use(await open(other))).toMatch(/hello$/);
  await firstClosed;
});
