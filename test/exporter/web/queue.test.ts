import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { createQueue } from "../../../src/exporter/web/queue.ts";
import { text, type Reply } from "../../../src/exporter/web/reply.ts";
import { held } from "./support.ts";

const from = (remoteAddress: string, destroyed = false) => ({ socket: { remoteAddress, destroyed } });
const ALICE = from("192.0.2.1");
const BOB = from("192.0.2.2");

/** A queue whose replies and pauses the test ends. */
function startQueue(maxWaiting = 10) {
  const pauses: { readonly ms: number; readonly end: () => void }[] = [];
  const made: { readonly what: string; readonly reply: (body: string) => void }[] = [];
  const queue = createQueue(maxWaiting, (ms) => {
    const { promise, release } = held<undefined>();
    pauses.push({ ms, end: () => release(undefined) });
    return promise;
  });
  const ask = (request: ReturnType<typeof from>, what: string): Promise<Reply> =>
    queue(request, what, () => {
      const { promise, release } = held<Reply>();
      made.push({ what, reply: (body) => release(text(200, body)) });
      return promise;
    });
  const whatIsMade = async (): Promise<readonly string[]> => {
    await setImmediate();
    return made.map(({ what }) => what);
  };
  return { ask, made, pauses, whatIsMade };
}

test("one response is made at a time, and the next one after a pause of at most half a second", async () => {
  const { ask, made, pauses, whatIsMade } = startQueue();
  const [one] = [ask(ALICE, "one"), ask(BOB, "two")];
  expect(await whatIsMade()).toEqual(["one"]);
  made[0]?.reply("made");
  expect((await one).body).toBe("made\n");
  expect(await whatIsMade()).toEqual(["one"]);
  expect(pauses).toHaveLength(1);
  expect(pauses[0]?.ms).toBeLessThanOrEqual(500);
  pauses[0]?.end();
  expect(await whatIsMade()).toEqual(["one", "two"]);
});

test("requests for the same share a response until it is made, whoever sends them", async () => {
  const { ask, made, pauses, whatIsMade } = startQueue();
  const [one, other] = [ask(ALICE, "page"), ask(BOB, "page")];
  await whatIsMade();
  const late = ask(BOB, "page");
  made[0]?.reply("made");
  expect(await other).toBe(await one);
  expect(await late).toBe(await one);
  const next = ask(ALICE, "page");
  pauses[0]?.end();
  expect(await whatIsMade()).toEqual(["page", "page"]);
  made[1]?.reply("made again");
  expect((await next).body).toBe("made again\n");
});

test("a client's requests beyond the limit are refused while others wait, and those of another client are not", async () => {
  const { ask, made, whatIsMade } = startQueue(2);
  const waiting = [ask(ALICE, "page"), ask(ALICE, "page")];
  expect(await ask(ALICE, "page")).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
  waiting.push(ask(BOB, "page"));
  await whatIsMade();
  made[0]?.reply("made");
  expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([200]));
});

test("a failure is shared too, and ends the turn", async () => {
  let calls = 0;
  const queue = createQueue(10, async () => {});
  const fail = (): Promise<Reply> => {
    calls += 1;
    throw new Error("bug");
  };
  const failed = await Promise.allSettled([queue(ALICE, "page", fail), queue(BOB, "page", fail)]);
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(calls).toBe(1);
  expect((await queue(ALICE, "page", async () => text(200, "fine"))).status).toBe(200);
});

test("nothing is made for clients that are gone", async () => {
  const queue = createQueue(10);
  let calls = 0;
  await queue(from("192.0.2.1", true), "page", async () => {
    calls += 1;
    return text(200, "");
  });
  expect(calls).toBe(0);
});
