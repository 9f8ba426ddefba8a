import { once } from "node:events";
import type { RequestListener } from "node:http";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { clientOf, connectionToClose } from "../../src/web/connections.ts";
import { connectTo, serveOn } from "./support.ts";

const HELLO: RequestListener = (_, response) => void response.end("hello");
const REQUEST = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

/** Sends a request and waits for the first bytes of the response. */
async function use(socket: Socket): Promise<string> {
  socket.write(REQUEST);
  const [data] = await once(socket, "data");
  return String(data);
}

test("listeners share the limit", async () => {
  const { port, otherPort } = await serveOn([0, 0], HELLO, 1);
  const first = await connectTo(port);
  const firstClosed = once(first, "close");
  expect(await use(await connectTo(otherPort))).toMatch(/hello$/);
  await firstClosed;
});

/** `idle 3 at a`: a connection of client a that has been idle for 3 seconds. */
function connectionOf(words: string) {
  const [state, seconds, , client = ""] = words.split(" ");
  return { words, client, isAnswering: state === "answering", sinceMs: 100_000 - Number(seconds) * 1000 };
}

test.each([
  {
    name: "the one that has been idle longest",
    ends: "idle 1 at a",
    others: ["idle 0 at a", "answering 1 at a"],
  },
  { name: "a slow one", ends: "answering 3 at a", others: ["idle 1 at a", "answering 2.5 at a"] },
  {
    name: "an idle one before one with a pending response, if both are slow",
    ends: "idle 3 at a",
    others: ["answering 9 at a"],
  },
  {
    name: "the one with the oldest pending response, if none is idle",
    ends: "answering 1 at a",
    others: ["answering 0 at a"],
  },
  {
    name: "one of the client with the most connections",
    ends: "answering 0 at a",
    others: ["idle 9 at b", "answering 0 at a", "answering 9 at c"],
  },
])("a new connection replaces $name", ({ ends, others }) => {
  const connections = [ends, ...others].map(connectionOf);
  expect(connectionToClose(connections, 100_000)?.words).toBe(ends);
  expect(connectionToClose(connections.toReversed(), 100_000)?.client).toBe("a");
  expect(connectionToClose([], 100_000)).toBeUndefined();
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8:1:2::1", "2001:db8:1:2"],
  ["2001:db8::1", "2001:db8:0:0"],
  ["::1", "0:0:0:0"],
  ["fe80::1%eth0", "fe80:0:0:0"],
  [undefined, ""],
])("the client at %s is %s", (address, client) => {
  expect(clientOf(address)).toBe(client);
});
