import { randomInt } from "node:crypto";
import type { Socket } from "node:net";
import { setImmediate, setTimeout } from "node:timers/promises";
import { TLSSocket } from "node:tls";
import { expect, test } from "vitest";
import type { Behaviour } from "../../support/fault-server.ts";
import { clientOf, LONG_MS, OK, serve, servePlain } from "./support.ts";

/** Over TLS, each of four clients makes as many polls; without, four times as many. */
const POLLS = Number(process.env["CLOSING_SERVERS_POLLS"] ?? 100);
const TIMEOUT = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
const CONTINUE = "HTTP/1.1 100 Continue\r\nX-Any: thing\r\n\r\n";

/** What a server does with a connection that it finds idle. After that it reads no more requests. */
const ENDS: readonly ((socket: Socket) => unknown)[] = [
  (socket) => socket.end(),
  (socket) => socket.destroy(),
  (socket) => (socket instanceof TLSSocket ? socket.destroy() : socket.resetAndDestroy()),
  (socket) => socket.end(TIMEOUT),
  (socket) => socket.write(TIMEOUT, () => socket.destroy()),
  (socket) => socket.write(TIMEOUT),
  (socket) => socket.end("HTTP/1.0 408 Request Time-out\r\n\r\n<h1>408</h1>"),
  (socket) => inPieces(socket, TIMEOUT).then(() => socket.end()),
  (socket) => socket.write("bye\r\n"),
  (socket) => socket.end(Buffer.from([0x15, 3, 1, 0, 2, 2, 40])),
];

function oneOf<T>(options: readonly T[]): T | undefined {
  return options[randomInt(options.length)];
}

/** Returns at once, a turn of the event loop later, or after up to 3 milliseconds. */
async function soon(): Promise<void> {
  const how = randomInt(3);
  if (how === 1) await setImmediate();
  if (how === 2) await setTimeout(randomInt(4));
}

async function inPieces(socket: Socket, text: string): Promise<void> {
  const [first = 0, second = 0] = [randomInt(text.length), randomInt(text.length)].toSorted((a, b) => a - b);
  for (const piece of [text.slice(0, first), text.slice(first, second), text.slice(second)]) {
    if (piece !== "" && socket.writable) socket.write(piece);
    await setImmediate();
  }
}

/** Answers every request, also with an unasked `100 Continue` before, and ends idle connections at any instant. */
const endingAnyTime: Behaviour = ({ socket, onRequest }) => {
  // Pieces that wait for acknowledgments would be lost in a reset.
  socket.setNoDelay(true);
  let latest = 0;
  let isOver = false;
  async function answer(nth: number): Promise<void> {
    if (isOver) return;
    await inPieces(socket, `${oneOf(["", CONTINUE])}${OK}${oneOf(["", "\r\n"])}`);
    // The client, in this process, has read the answer then.
    for (let turn = 0; turn < 2; turn += 1) await setImmediate();
    await soon();
    if (latest > nth || randomInt(3) > 0) return;
    isOver = true;
    oneOf(ENDS)?.(socket);
  }
  let serving = Promise.resolve();
  onRequest((_, nth) => {
    latest = nth;
    serving = serving.then(() => answer(nth));
  });
};

test.each([
  { name: "plain HTTP", start: servePlain, scheme: "http", polls: 4 * POLLS },
  { name: "TLS", start: (behaviour: Behaviour) => serve(behaviour), scheme: "https", polls: POLLS },
])(
  "no poll over $name fails while the server ends idle connections at any instant, silently, with 408 or with other bytes",
  async ({ start, scheme, polls }) => {
    const server = await start(endingAnyTime);
    const one = async (): Promise<readonly string[]> => {
      const client = clientOf(`${scheme}://127.0.0.1:${server.port}`);
      const failed: string[] = [];
      for (let nth = 0; nth < polls; nth += 1) {
        const answer = await client.get("/x", LONG_MS);
        if (!answer.ok) failed.push(`${answer.failure.reason}: ${answer.failure.message}`);
        await soon();
      }
      return failed;
    };
    expect((await Promise.all([one(), one(), one(), one()])).flat()).toEqual([]);
    expect(server.connections()).toBeGreaterThan(polls / 10);
  },
);
