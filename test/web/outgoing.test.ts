import { expect, test } from "vitest";
import { createOutgoing } from "../../src/web/outgoing.ts";
import { eventually } from "../support/eventually.ts";
import { connectTo, serve } from "./support.ts";

const BODY_BYTES = 20_000_000;
const reply = (body: Buffer) => ({ status: 200, contentType: "text/plain", body });

/** Clients that do not read, each with the response from `bodies`, and a clock that stands still. */
async function startStalled(bodies: readonly Buffer[], maxBytes: number) {
  const clock = { nowMs: 0 };
  const outgoing = createOutgoing(() => clock.nowMs, maxBytes);
  const left = [...bodies];
  const cut: number[] = [];
  const port = await serve((request, response) => {
    const nth = bodies.length - left.length;
    response.once("close", () => cut.push(nth));
    outgoing.send(request, response, reply(left.shift() ?? Buffer.alloc(0)));
  });
  for (const _ of bodies) {
    const before = left.length;
    const socket = (await connectTo(port)).pause();
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    // One after the other.
    await eventually(() => expect(left.length).toBeLessThan(before));
  }
  return { outgoing, clock, cut };
}

test("there is room within the limit, and each body counts once", async () => {
  const body = Buffer.alloc(BODY_BYTES);
  const { outgoing, cut } = await startStalled([body, body, body], BODY_BYTES);
  await outgoing.room();
  expect(cut).toEqual([]);
});

test("beyond the limit, the oldest responses are aborted when they are slow", async () => {
  const [one, other] = [Buffer.alloc(BODY_BYTES), Buffer.alloc(BODY_BYTES)];
  const { outgoing, clock, cut } = await startStalled([one, one, other], BODY_BYTES);
  let hasRoom = false;
  const room = outgoing.room().then(() => (hasRoom = true));
  clock.nowMs = 1999;
  await new Promise((resolve) => setImmediate(resolve));
  expect([hasRoom, cut]).toEqual([false, []]);
  clock.nowMs = 2000;
  await room;
  await eventually(() => expect(cut).toEqual([0, 1]));
});

test("at twice the limit, the oldest response is aborted at once", async () => {
  const bodies = [Buffer.alloc(BODY_BYTES), Buffer.alloc(BODY_BYTES), Buffer.alloc(BODY_BYTES)];
  const { cut } = await startStalled(bodies, BODY_BYTES);
  await eventually(() => expect(cut).toEqual([0]));
});
