import { expect, test } from "vitest";
import { createOutgoing } from "../../src/web/reply.ts";
import { eventually } from "../support/eventually.ts";
import { connectTo, serve } from "./support.ts";

const BODY_BYTES = 20_000_000;

/** Sends these bodies to clients that do not read. Returns the numbers of the responses that were aborted. */
async function abortedOf(bodies: readonly Buffer[], maxBytes: number): Promise<readonly number[]> {
  const sendReply = createOutgoing(maxBytes);
  const aborted: number[] = [];
  let sent = 0;
  const port = await serve((request, response) => {
    const nth = sent;
    response.once("close", () => aborted.push(nth));
    void sendReply(request, response, { status: 200, contentType: "text/plain", body: bodies[nth] ?? "" });
    sent += 1;
  });
  for (const nth of bodies.keys()) {
    const socket = (await connectTo(port)).pause();
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await eventually(() => expect(sent).toBe(nth + 1));
  }
  return aborted;
}

test("a body that several responses share counts once", async () => {
  const body = Buffer.alloc(BODY_BYTES);
  expect(await abortedOf([body, body, body], BODY_BYTES)).toEqual([]);
});

test("beyond the limit, the oldest responses are aborted", async () => {
  const [one, other] = [Buffer.alloc(BODY_BYTES), Buffer.alloc(BODY_BYTES)];
  const aborted = await abortedOf([one, one, other], BODY_BYTES);
  await eventually(() => expect(new Set(aborted)).toEqual(new Set([0, 1])));
});
