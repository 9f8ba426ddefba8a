import { once } from "node:events";
import type { RequestListener, ServerResponse } from "node:http";
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectTls, type SecureVersion } from "node:tls";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createAuthority } from "../support/certificates.ts";
import { createHeadFinder } from "../../src/web/serial-connection.ts";
import { eventually } from "../support/eventually.ts";
import type { Files } from "../config/folder.ts";
import { held, startSecured } from "./support.ts";

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

function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
}

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

  test("pipelined requests are served in order, each after the response to the previous one", async () => {
    let [underWay, most] = [0, 0];
    const port = await serve(({ url }, response) => {
      underWay += 1;
      most = Math.max(most, underWay);
      response.once("close", () => (underWay -= 1));
      setImmediate(() => response.end(`<${url}>`));
    });
    const { socket, received } = await open(port);
    const paths = Array.from({ length: 5000 }, (_, nth) => `/${nth}`);
    socket.write(paths.map(get).join(""));
    await eventually(() => expect(received()).toContain("</4999>"), { timeoutMs: 25_000 });
    expect([...received().matchAll(/<(.*?)>/g)].map(([, path]) => path)).toEqual(paths);
    expect(most).toBe(1);
  });

  test("a request that arrives in single bytes is served", async () => {
    const port = await serve(({ url }, response) => void response.end(`<${url}>`));
    const { socket, received } = await open(port);
    for (const byte of `${get("/a")}\r\n${get("/b")}`) {
      socket.write(byte);
      await nextTurn();
    }
    await eventually(() => expect(received()).toMatch(/<\/a>[^]*<\/b>/));
  });

  test("a client that has closed its side gets its response, then the connection closes", async () => {
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

  test("all pipelined requests of a client that has closed its side are served", async () => {
    const port = await serve(({ url }, response) => void response.end(`<${url}>`));
    const { socket, received } = await open(port);
    socket.end(get("/a") + get("/b") + get("/c"));
    await once(socket, "close");
    expect([...received().matchAll(/<(.*?)>/g)].map(([, path]) => path)).toEqual(["/a", "/b", "/c"]);
  });

  test("a body is neither read nor parsed as a request: its connection closes after the response", async () => {
    const seen: unknown[] = [];
    const port = await serve(({ url }, response) => {
      seen.push(url);
      response.end("answer");
    });
    const body = get("/in-the-body");
    for (const head of [`Content-Length: ${body.length}`, "Transfer-Encoding: chunked"]) {
      const { socket, received } = await open(port);
      socket.write(`POST /a HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n${body}${get("/behind")}`);
      await once(socket, "end");
      expect(received()).toMatch(/^HTTP\/1\.1 200 OK\r\nconnection: close\r\n[^]*answer$/i);
    }
    expect(seen).toEqual(["/a", "/a"]);
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

/** The request heads in a text that arrives in pieces of this size. */
function headsIn(text: string, size: number): readonly string[] {
  const find = createHeadFinder();
  const heads: string[] = [];
  let head = "";
  for (let rest = text; rest !== "";) {
    const piece = rest.slice(0, size);
    const end = find(Buffer.from(piece, "latin1")) ?? 0;
    head += end === 0 ? piece : piece.slice(0, end);
    if (end > 0) {
      heads.push(head);
      head = "";
    }
    rest = rest.slice(end === 0 ? size : end);
  }
  return heads;
}

const GET = get("/");

test.each([
  { name: "one request", text: GET, heads: [GET] },
  { name: "pipelined requests", text: GET.repeat(3), heads: [GET, GET, GET] },
  { name: "lines that end with LF", text: "GET /\nHost: x\n\nGET", heads: ["GET /\nHost: x\n\n"] },
  { name: "empty lines before a request", text: `\r\n\n\r\n${GET}`, heads: [`\r\n\n\r\n${GET}`] },
  { name: "a line with only a space", text: "GET /\r\n \r\nHost: x\r\n", heads: [] },
  { name: "half a request", text: GET.slice(0, -1), heads: [] },
  { name: "only empty lines", text: "\r\n".repeat(9), heads: [] },
])("$name, in pieces of any size", ({ text, heads }) => {
  for (let size = 1; size <= text.length; size += 1) expect(headsIn(text, size)).toEqual(heads);
});
