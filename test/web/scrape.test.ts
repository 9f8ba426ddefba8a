import { gunzipSync } from "node:zlib";

import { expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { type MetricsText, createSharedRendering } from "../../src/web/scrape.ts";

/** Renders its own number, and tells how often it has rendered. */
function numbered(size = 0): { rendering: MetricsText; count(): number } {
  let count = 0;
  const render = (): Promise<string> => Promise.resolve(`${(count += 1)}${"x".repeat(size)}`);
  return { rendering: createSharedRendering(render), count: () => count };
}

test("those who ask together get one rendering, compressed once", async () => {
  const { rendering, count } = numbered();
  const [one, other] = await Promise.all([rendering.plain(), rendering.plain()]);
  expect(one).toBe(other);
  const [gzipped, again] = await Promise.all([rendering.gzipped(), rendering.gzipped()]);
  expect(gzipped).toBe(again);
  expect(gunzipSync(gzipped).toString()).toBe("2");
  expect(count()).toBe(2);
});

test("plain and compressed are made of one rendering where both are asked for together", async () => {
  const { rendering, count } = numbered();
  const [plain, gzipped] = await Promise.all([rendering.plain(), rendering.gzipped()]);
  expect(plain.toString()).toBe("1");
  expect(gunzipSync(gzipped).toString()).toBe("1");
  expect(count()).toBe(1);
});

test("who asks afterwards gets a new one", async () => {
  const { rendering } = numbered();
  expect((await rendering.plain()).toString()).toBe("1");
  expect((await rendering.plain()).toString()).toBe("2");
});

test("who asks for compression while one is under way gets what comes of it; plain text is always fresh", async () => {
  // Long enough to be compressed for many turns of the event loop.
  const { rendering, count } = numbered(2 ** 25);
  const compressing = rendering.gzipped();
  await eventually(() => expect(count()).toBe(1));
  const second = rendering.gzipped();
  const plain = await rendering.plain();
  expect(await second).toBe(await compressing);
  expect(plain.subarray(0, 2).toString()).toBe("2x");
});

test("a rendering that failed is not kept", async () => {
  let renderings = 0;
  const rendering = createSharedRendering(() => {
    renderings += 1;
    return renderings === 1 ? Promise.reject(new Error("bug")) : Promise.resolve("fine");
  });
  const failed = await Promise.allSettled([rendering.plain(), rendering.gzipped()]);
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect((await rendering.plain()).toString()).toBe("fine");
});
