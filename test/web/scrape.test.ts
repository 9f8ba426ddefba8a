import { gunzipSync } from "node:zlib";

import { expect, test } from "vitest";

import { acceptsGzip, createSharedRendering } from "../../src/web/scrape.ts";

function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

test.each([
  "gzip",
  "GZIP",
  "x-gzip",
  "*",
  "deflate, gzip",
  "gzip;q=1",
  "gzip; q=0.5, identity",
  "gzip;q=0.001",
  "br;q=1.0, gzip;q=0.8, *;q=0.1",
  "gzip;q=1.000",
])("%s takes gzip", (header) => {
  expect(acceptsGzip(header)).toBe(true);
});

test.each([
  undefined,
  "",
  "identity",
  "deflate",
  "br",
  "gzip;q=0",
  "gzip; q=0.000",
  "notgzip",
  "gzipped",
  "*;q=0",
  "gzip;q=0, *;q=1",
])("%s does not take gzip", (header) => {
  expect(acceptsGzip(header)).toBe(false);
});

test("who asks while a rendering is being made gets that one, compressed once", async () => {
  let renderings = 0;
  const rendering = createSharedRendering(() => Promise.resolve(`rendering ${(renderings += 1)}`));
  const [one, other] = await Promise.all([rendering(), rendering()]);
  expect(one).toBe(other);
  const [gzipped, again] = await Promise.all([one.gzipped(), other.gzipped()]);
  expect(gzipped).toBe(again);
  expect(gunzipSync(gzipped).toString()).toBe("rendering 1");
});

test("who asks afterwards gets a new one", async () => {
  let renderings = 0;
  const rendering = createSharedRendering(() => Promise.resolve(`rendering ${(renderings += 1)}`));
  expect((await rendering()).plain.toString()).toBe("rendering 1");
  await nextTurn();
  expect((await rendering()).plain.toString()).toBe("rendering 2");
});

test("who asks while a rendering is being compressed gets that one", async () => {
  let renderings = 0;
  // Long enough to be compressed for many turns of the event loop.
  const rendering = createSharedRendering(() =>
    Promise.resolve(`${(renderings += 1)}${"x".repeat(2 ** 25)}`),
  );
  const compressing = (await rendering()).gzipped();
  await nextTurn();
  const second = await rendering();
  expect(renderings).toBe(1);
  expect(await second.gzipped()).toBe(await compressing);
});

test("a rendering that failed is not kept", async () => {
  let renderings = 0;
  const rendering = createSharedRendering(() => {
    renderings += 1;
    return renderings === 1 ? Promise.reject(new Error("bug")) : Promise.resolve("fine");
  });
  const failed = await Promise.allSettled([rendering(), rendering()]);
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect((await rendering()).plain.toString()).toBe("fine");
});
