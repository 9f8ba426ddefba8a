import { once } from "node:events";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectTls, type SecureVersion } from "node:tls";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createServerConnections } from "../../../src/exporter/web/connections.ts";
import { closeAtOnce, listen } from "../../../src/exporter/web/listen.ts";
import { createAuthority } from "../../support/certificates.ts";
import { eventually } from "../../support/eventually.ts";
import type { Files } from "../config/folder.ts";
import { connectTo, held, serveOn, startSecured } from "./support.ts";

const HELLO: RequestListener = (_, response) => void response.end("hello");

/** Sends a request and waits for the first bytes of the response. */
async function use(socket: Socket): Promise<string> {
  socket.write(get("/"));
  const [data] = await once(socket, "data");
  return String(data);
}

function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
}

test("listeners share the limit", async () => {
  const { port, otherPort } = await serveOn([0, 0], HELLO, 1);
  const first = await connectTo(port);
  const firstClosed = once(first, "close");
  expect(await use(await connectTo(otherPort))).toMatch(/hello$/);
  await firstClosed;
});

test("a new connection replaces the one whose latest request or response is longest ago", async () => {
  const { port } = await serveOn([0], HELLO, 2);
  const [used, unused] = [await connectTo(port), await connectTo(port)];
  await use(unused);
  await use(used);
  const closed = once(unused, "close");
  expect(await use(await connectTo(port))).toMatch(/hello$/);
  await closed;
  expect(await use(used)).toMatch(/hello$/);
});

test("idle connections do not replace one with a pending response", async () => {
  const answering = held<ServerResponse>();
  const { port } = await serveOn([0], (_, response) => answering.release(response), 2);
  const scraper = await connectTo(port);
  scraper.write(get("/"));
  const response = await answering.promise;
  const idle = await connectTo(port);
  const closed = once(idle, "close");
  await connectTo(port);
  await closed;
  response.end("hello");
  const [data] = await once(scraper, "data");
  expect(String(data)).toMatch(/hello$/);
});

test("connections of one client replace none of another", async () => {
  const { port } = await serveOn([0], HELLO, 3);
  const scraper = await connectTo(port, "127.0.0.2");
  await use(scraper);
  const first = await connectTo(port);
  const closed = once(first, "close");
  for (let count = 0; count < 4; count += 1) await use(await connectTo(port));
  await closed;
  expect(await use(scraper)).toMatch(/hello$/);
});

test("of requests in one packet, Node.js parses a kilobyte: it reads only what a listener for `readable` reads", async () => {
  let parsed = 0;
  const server = createServer().on("request", () => (parsed += 1));
  createServerConnections().serve(server, () => {});
  const { port } = await listen(server, { host: "127.0.0.1", port: 0 });
  onTestFinished(() => closeAtOnce(server));
  const socket = await connectTo(port);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write(get("/").repeat(2000));
  await closed;
  expect(parsed).toBe(Math.floor(1024 / get("/").length));
});

let files: Files = {};
beforeAll(async () => {
  const { cert, key } = await (await createAuthority()).issue();
  files = { "server.pem": cert, "server.key": key };
});

interface Way {
  readonly name: string;
  readonly version?: SecureVersion;
}
const WAYS: readonly Way[] = [
  { name: "plain HTTP" },
  { name: "TLS 1.2", version: "TLSv1.2" },
  { name: "TLS 1.3", version: "TLSv1.3" },
];

describe.each(WAYS)("over $name", ({ version }) => {
  const isPlain = version === undefined;

  async function serve(handler: RequestListener): Promise<number> {
    const settings = "tls_server_config: { cert_file: server.pem, key_file: server.key }";
    const { port } = await startSecured(isPlain ? "{}" : settings, files, handler);
    return port;
  }
  async function open(port: number) {
    const to = { port, host: "127.0.0.1", allowHalfOpen: true };
    const socket: Socket = isPlain
      ? connectPlain(to)
      : connectTls({ ...to, rejectUnauthorized: false, maxVersion: version });
    socket.on("error", () => {});
    onTestFinished(() => void socket.destroy());
    await once(socket, isPlain ? "connect" : "secureConnect");
    let text = "";
    socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk));
    return { socket, received: () => text };
  }

  test("a request in the same piece as the one before closes the connection", async () => {
    const seen: unknown[] = [];
    const port = await serve(({ url }) => void seen.push(url));
    const { socket, received } = await open(port);
    socket.write(Array.from({ length: 5000 }, (_, nth) => get(`/${nth}`)).join(""));
    // Unlike `once`, not rejected by the reset that comes of what was not read.
    await new Promise((resolve) => socket.once("close", resolve));
    expect(seen).toEqual(["/0"]);
    expect(received()).toBe("");
  });

  test("a request that arrives before the response to the one before is served after it", async () => {
    const asked = new Map<string, ServerResponse>();
    const port = await serve(({ url = "" }, response) => void asked.set(url, response));
    const arrival = (path: string) => eventually(() => expect([...asked.keys()].at(-1)).toBe(path));
    const [one, other] = [await open(port), await open(port)];
    one.socket.write(get("/a"));
    await arrival("/a");
    one.socket.write(get("/b"));
    other.socket.write(get("/later"));
    await arrival("/later");
    expect([...asked.keys()]).toEqual(["/a", "/later"]);
    asked.get("/a")?.end("<a>");
    await arrival("/b");
    asked.get("/b")?.end("<b>");
    await eventually(() => expect(one.received()).toMatch(/<a>[^]*<b>/));
    // A stop would wait for it.
    asked.get("/later")?.end();
  });

  test("a request that arrives in single bytes is served", async () => {
    const port = await serve(({ url }, response) => void response.end(`<${url}>`));
    const { socket, received } = await open(port);
    for (const byte of `${get("/a")}\r\n`) {
      socket.write(byte);
      await nextTurn();
    }
    await eventually(() => expect(received()).toContain("</a>"));
    for (const byte of get("/b")) {
      socket.write(byte);
      await nextTurn();
    }
    await eventually(() => expect(received()).toContain("</b>"));
  });

  test("a client that has closed its side gets its response, then the connection closes: httpAllowHalfOpen of Node", async () => {
    const answering = held<ServerResponse>();
    const port = await serve((_, response) => answering.release(response));
    const { socket, received } = await open(port);
    socket.end(get("/"));
    const response = await answering.promise;
    // Until the end of the client's side has certainly arrived.
    const other = await open(port);
    other.socket.end();
    await once(other.socket, "close");
    response.end("answer");
    await once(socket, "close");
    expect(received()).toMatch(/^HTTP\/1\.1 200 [^]*answer$/);
  });

  test("a body is not parsed as a request", async () => {
    const seen: unknown[] = [];
    const port = await serve(({ url }, response) => {
      seen.push(url);
      response.end(`<${url}>`);
    });
    const body = get("/in-the-body").repeat(100);
    for (const [head, sent] of [
      [`Content-Length: ${body.length}`, body],
      ["Transfer-Encoding: chunked", `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`],
    ]) {
      const { socket, received } = await open(port);
      socket.write(`POST /a HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n${sent}`);
      await eventually(() => expect(received()).toContain("</a>"));
      socket.write(get("/b"));
      await eventually(() => expect(received()).toContain("</b>"));
    }
    expect(seen).toEqual(["/a", "/b", "/a", "/b"]);
  });

  test("a handler sees the client's address", async () => {
    const port = await serve(({ socket }, response) => void response.end(socket.remoteAddress));
    const { socket, received } = await open(port);
    socket.write(get("/"));
    await eventually(() => expect(received()).toMatch(/\r\n\r\n127\.0\.0\.1$/));
  });
});

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
