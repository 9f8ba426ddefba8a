import { expect, test } from "vitest";
import { answering, clientOf, inlinePassword, LONG_MS, servePlain, shortly } from "./support.ts";

const LIMIT = { bodyLimitBytes: 1600 };

function plain(body: string): string {
  return `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** In chunks of this many bytes. */
function chunked(body: string, bytes: number): string {
  const chunks = body.match(new RegExp(`.{1,${bytes}}`, "gs")) ?? [];
  const coded = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("");
  return `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${coded}0\r\n\r\n`;
}

test.each([
  ["as long as the limit", plain("x".repeat(1600)), "x".repeat(1600)],
  ["in as many chunks as are allowed", chunked("0123456789".repeat(10), 1), "0123456789".repeat(10)],
  ["that is empty", plain(""), ""],
])("a body %s is read completely, and its connection is kept", async (_, answer, body) => {
  const server = await servePlain(answering(answer));
  const client = clientOf(`http://127.0.0.1:${server.port}`);
  for (let nth = 0; nth < 2; nth += 1) expect(shortly(await client.get("/x", LONG_MS, LIMIT))).toBe(body);
  expect(server.connections()).toBe(1);
});

test("an answer is returned unchanged, with a function that redacts the credentials", async () => {
  const body = '{"vrrp_priority":"priority"}';
  const server = await servePlain(answering(plain(body)));
  const basicAuth = inlinePassword("priority");
  const client = clientOf(`http://127.0.0.1:${server.port}`, { http: { basicAuth } });
  const outcome = await client.get("/x", LONG_MS);
  expect(shortly(outcome)).toBe(body);
  const token = Buffer.from("monitor:priority").toString("base64");
  expect(outcome.ok && outcome.value.redact(`a priority and ${token}`)).toBe("a <secret> and <secret>");
});

test("an answer to a request without credentials has nothing to redact", async () => {
  const server = await servePlain(answering(plain("{}")));
  const outcome = await clientOf(`http://127.0.0.1:${server.port}`).get("/x", LONG_MS);
  expect(outcome.ok && outcome.value.redact("priority")).toBe("priority");
});
