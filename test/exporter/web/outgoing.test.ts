import { setTimeout } from "node:timers/promises";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { bodyOf, type SizedText } from "../../../src/support/long-text.ts";
import { createOutgoing } from "../../../src/exporter/web/reply.ts";
import { eventually } from "../../support/eventually.ts";
import { longTexts } from "../../support/long-texts.ts";
import { connectTo, serve } from "./support.ts";

const BODY_BYTES = 20_000_000;

function bodyWith(bytes = BODY_BYTES): SizedText {
  return { texts: [Buffer.alloc(bytes)], bytes };
}

/** Sends these bodies to clients at these addresses, which do not read. Returns the numbers of the responses that were aborted. */
async function abortedOf(
  bodies: readonly SizedText[],
  maxBytes: number,
  addresses: readonly string[] = [],
): Promise<readonly number[]> {
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
    const socket = (await connectTo(port, addresses[nth])).pause();
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await eventually(() => expect(sent).toBe(nth + 1));
  }
  return aborted;
}

test("a body that several responses share counts once", async () => {
  const body = bodyWith();
  expect(await abortedOf([body, bodyWith(), body], BODY_BYTES)).toEqual([]);
});

test("the largest body may exceed the limit, also beside others", async () => {
  const bodies = [bodyWith(), bodyWith(BODY_BYTES / 2)];
  expect(await abortedOf(bodies, BODY_BYTES / 2)).toEqual([]);
});

test("beyond the limit, the oldest responses are aborted", async () => {
  const [one, other] = [bodyWith(), bodyWith()];
  const aborted = await abortedOf([one, one, other], BODY_BYTES - 1);
  await eventually(() => expect(new Set(aborted)).toEqual(new Set([0, 1])));
});

test("beyond the limit, responses of the client that keeps most bodies are aborted, not that of an older one", async () => {
  const bodies = Array.from({ length: 4 }, () => bodyWith());
  const addresses = ["127.0.0.2", "127.0.0.1", "127.0.0.1", "127.0.0.1"];
  const aborted = await abortedOf(bodies, 2 * BODY_BYTES, addresses);
  await eventually(() => expect(new Set(aborted)).toEqual(new Set([1])));
});

/** Some are longer than a piece of a response. */
const someTexts = longTexts(0, 1, 3000, 20_000, 22_000, 300_000);

test("clients that read at different speeds receive all bytes of the body that they share", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someTexts, { minLength: 10, maxLength: 30 }), async (texts) => {
      const body = await bodyOf(texts);
      const sendReply = createOutgoing();
      const port = await serve((request, response) => {
        void sendReply(request, response, { status: 200, contentType: "text/plain", body });
      });
      const expected = Buffer.concat(texts.map((each) => Buffer.from(each)));
      const readers = [0, 0, 1, 5].map(async (pauseMs) => {
        const response = await fetch(`http://127.0.0.1:${port}/`);
        const chunks: Uint8Array[] = [];
        for await (const chunk of response.body ?? []) {
          chunks.push(chunk);
          if (pauseMs > 0) await setTimeout(pauseMs);
        }
        return Buffer.concat(chunks).equals(expected);
      });
      expect(await Promise.all(readers)).toEqual([true, true, true, true]);
    }),
    { numRuns: 5 },
  );
});
