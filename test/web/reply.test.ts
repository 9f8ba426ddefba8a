import { gunzipSync } from "node:zlib";

import { expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { acceptsGzip, compressible } from "../../src/web/reply.ts";

/** The body in both encodings. */
function bodiesOf(render: () => Promise<string>) {
  const reply = compressible("text/plain", {}, render);
  const bodyFor = async (encoding: string): Promise<Buffer> => {
    const { body } = await reply({ headers: { "accept-encoding": encoding } });
    if (typeof body === "string") throw new Error("the body is not encoded");
    return body;
  };
  return { plain: () => bodyFor("identity"), gzipped: () => bodyFor("gzip") };
}

/** Renders its own number and counts the renderings. */
function numbered(size = 0) {
  let count = 0;
  const render = (): Promise<string> => Promise.resolve(`${(count += 1)}${"x".repeat(size)}`);
  return { rendering: bodiesOf(render), count: () => count };
}

test("simultaneous requests share one rendering, compressed once", async () => {
  const { rendering, count } = numbered();
  const [one, other] = await Promise.all([rendering.plain(), rendering.plain()]);
  expect(one).toBe(other);
  const [gzipped, again] = await Promise.all([rendering.gzipped(), rendering.gzipped()]);
  expect(gzipped).toBe(again);
  expect(gunzipSync(gzipped).toString()).toBe("2");
  expect(count()).toBe(2);
});

test("simultaneous plain and compressed requests share one rendering", async () => {
  const { rendering, count } = numbered();
  const [plain, gzipped] = await Promise.all([rendering.plain(), rendering.gzipped()]);
  expect(plain.toString()).toBe("1");
  expect(gunzipSync(gzipped).toString()).toBe("1");
  expect(count()).toBe(1);
});

test("a later request gets a new rendering", async () => {
  const { rendering } = numbered();
  expect((await rendering.plain()).toString()).toBe("1");
  expect((await rendering.plain()).toString()).toBe("2");
});

test("requests during compression share its result; plain text is always new", async () => {
  // Large enough that compression takes many turns of the event loop.
  const { rendering, count } = numbered(2 ** 25);
  const compressing = rendering.gzipped();
  await eventually(() => expect(count()).toBe(1));
  const second = rendering.gzipped();
  const plain = await rendering.plain();
  expect(await second).toBe(await compressing);
  expect(plain.subarray(0, 2).toString()).toBe("2x");
});

test("a failed rendering is not cached", async () => {
  let renderings = 0;
  const rendering = bodiesOf(() => {
    renderings += 1;
    return renderings === 1 ? Promise.reject(new Error("bug")) : Promise.resolve("fine");
  });
  const failed = await Promise.allSettled([rendering.plain(), rendering.gzipped()]);
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect((await rendering.plain()).toString()).toBe("fine");
});

test.each([
  [undefined, false],
  ["", false],
  ["identity", false],
  ["gzip", true],
  ["X-GZIP", true],
  ["deflate, gzip;q=0.001", true],
  ["br;q=1.0, gzip; q=0.8, *;q=0.1", true],
  ["gzip;q=1.000", true],
  ["gzip; q=0.000", false],
  ["gzip;q=0, *;q=1", false],
  ["gzipped, notgzip", false],
])("whether Accept-Encoding %s accepts gzip: %s", (header, isAccepted) => {
  expect(acceptsGzip(header)).toBe(isAccepted);
});
