import { onTestFinished, expect, test } from "vitest";

import { watchLoopDelay } from "../support/loop-delay.ts";
import { startSynSwallower } from "../support/fault-server.ts";
import { answering, clientOf, LONG_MS, OK, proxyAt, serve, shortly } from "./support.ts";

const TIMEOUT_MS = 150;
/** Placeholder for a function that the test sets later. */
function failTest(): void {
  throw new Error("not yet");
}

/** How much later than its deadline a poll may end. */
const GRACE_MS = 100;

/** The result of `work`, its duration, and how much of that a busy machine may have added. */
async function timed<T>(work: () => Promise<T>) {
  const loopDelayMs = watchLoopDelay();
  const startedMs = performance.now();
  const value = await work();
  const tookMs = performance.now() - startedMs;
  return { value, tookMs, delayMs: 3 * (await loopDelayMs()) };
}

async function swallowedPort(): Promise<number> {
  const swallower = await startSynSwallower();
  onTestFinished(() => swallower.stop());
  return swallower.port;
}

test("a deadline that passes during the name lookup is dns, and a late lookup opens no connection", async () => {
  const server = await serve(answering(OK));
  let finish: () => void = failTest;
  const client = clientOf(`https://waf.example:${server.port}`, {
    lookup: (_, __, callback) => {
      finish = () => callback(null, [{ address: "127.0.0.1", family: 4 }]);
    },
  });
  const { value, tookMs, delayMs } = await timed(() => client.get("/x", TIMEOUT_MS));
  expect(shortly(value)).toBe("dns");
  expect(tookMs).toBeLessThan(TIMEOUT_MS + GRACE_MS + delayMs);
  finish();
  expect(shortly(await clientOf(`https://127.0.0.1:${server.port}`).get("/x", LONG_MS))).toBe("{}");
  expect(server.connections()).toBe(1);
});

test("a deadline that passes before a proxy is reached is proxy", async () => {
  const proxy = proxyAt(await swallowedPort());
  const { value, tookMs, delayMs } = await timed(() =>
    clientOf("https://192.0.2.1:4849", { http: { proxy } }).get("/x", TIMEOUT_MS),
  );
  expect(shortly(value)).toBe("proxy");
  expect(tookMs).toBeLessThan(TIMEOUT_MS + GRACE_MS + delayMs);
});

test("a deadline does not affect other polls of the appliance", async () => {
  const server = await serve(({ socket, onRequest }) =>
    onRequest(({ path }) => {
      if (path === "/quick") setTimeout(() => socket.write(OK), 2 * TIMEOUT_MS);
    }),
  );
  const client = clientOf(`https://127.0.0.1:${server.port}`);
  const [slow, quick] = await Promise.all([client.get("/slow", TIMEOUT_MS), client.get("/quick", LONG_MS)]);
  expect([shortly(slow), shortly(quick)]).toEqual(["timeout", "{}"]);
});
