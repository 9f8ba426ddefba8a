import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { continueBytes } from "../../../src/exporter/client/continue.ts";
import type { Behaviour } from "../../support/fault-server.ts";
import { answering, clientOf, LONG_MS, OK, serve, servePlain, shortly } from "./support.ts";

const CONTINUE = "HTTP/1.1 100 Continue\r\nX-Any: thing\r\n\r\n";

test.each<readonly [what: string, bytes: string, skipped: number | undefined]>([
  ["nothing", "", undefined],
  ["the start of any answer", "HTTP/1.1 ", undefined],
  ["the start of a status", "HTTP/1.1 100", undefined],
  ["a 100 without its end", "HTTP/1.1 100 Continue\r\n", undefined],
  ["a 100", CONTINUE, CONTINUE.length],
  ["a 100 without a reason", "HTTP/1.1 100\r\n\r\nHTTP/1.1 200", 16],
  ["a 100 before an answer", CONTINUE + OK, CONTINUE.length],
  ["two 100s", CONTINUE + CONTINUE, CONTINUE.length],
  ["a 100 of a kilobyte without an end", "HTTP/1.1 100 ".padEnd(1024, "x"), 0],
  ["another interim answer", "HTTP/1.1 103 Early Hints\r\n\r\n", 0],
  ["an answer", OK, 0],
  ["no HTTP", "SSH", 0],
  ["another version", "HTTP/2 100 \r\n\r\n", 0],
])("of %s, what has to be skipped is known: %j", (_, bytes, skipped) => {
  expect(continueBytes(Buffer.from(bytes))).toBe(skipped);
});

/** Sends each answer byte by byte. */
function dripping(text: string): Behaviour {
  return ({ socket, onRequest }) => {
    socket.setNoDelay(true);
    const drip = async (): Promise<void> => {
      for (const byte of text) {
        socket.write(byte);
        await setImmediate();
      }
    };
    onRequest(() => void drip());
  };
}

test.each([
  { name: "at once", behaviour: answering(CONTINUE + OK) },
  { name: "byte by byte", behaviour: dripping(CONTINUE + OK) },
])("an unasked 100 Continue, $name, is skipped before each answer of a connection", async ({ behaviour }) => {
  for (const [scheme, server] of [
    ["http", await servePlain(behaviour)],
    ["https", await serve(behaviour)],
  ] as const) {
    const client = clientOf(`${scheme}://127.0.0.1:${server.port}`);
    for (let nth = 0; nth < 3; nth += 1) expect(shortly(await client.get("/x", LONG_MS))).toBe("{}");
    expect(server.connections()).toBe(1);
  }
});

test("a second 100 Continue is protocol", async () => {
  const server = await servePlain(answering(CONTINUE + CONTINUE + OK));
  expect(shortly(await clientOf(`http://127.0.0.1:${server.port}`).get("/x", LONG_MS))).toBe("protocol");
});
