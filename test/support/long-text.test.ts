import { gunzipSync } from "node:zlib";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { compressed, joined, type Text } from "../../src/support/long-text.ts";

/** Some longer than a block, some longer than a piece of what is compressed, some with characters of several bytes. */
const texts = fc
  .tuple(
    fc.constantFrom("a", "é", "日", "😀", "ab\n"),
    fc.constantFrom(0, 1, 7, 20_000, 600_000),
    fc.boolean(),
  )
  .map(([letter, count, isBuffer]): Text => {
    const text = letter.repeat(count);
    return isBuffer ? Buffer.from(text) : text;
  });
const lists = fc.array(fc.array(texts, { maxLength: 6 }), { maxLength: 4 });

test("texts of lists are joined, and compressed, in order and without loss", async () => {
  await fc.assert(
    fc.asyncProperty(lists, async (given) => {
      const length = given.flat().reduce((sum, text) => sum + text.length, 0);
      const expected = Buffer.concat(given.flat().map((text) => Buffer.from(text)));
      const all = await joined({ lists: given, length });
      expect(all.equals(expected)).toBe(true);
      const packed = await compressed({ lists: given, length });
      expect(gunzipSync(packed).equals(expected)).toBe(true);
    }),
    { numRuns: 60 },
  );
});
