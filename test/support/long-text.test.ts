import { gunzipSync } from "node:zlib";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { bodyOf, compressed, piecesOf } from "../../src/support/long-text.ts";

/** Some longer than a piece of what is compressed, some with characters of several bytes. */
const texts = fc
  .tuple(
    fc.constantFrom("a", "é", "日", "😀", "ab\n"),
    fc.constantFrom(0, 1, 7, 20_000, 600_000),
    fc.boolean(),
  )
  .map(([letter, count, isBuffer]) => {
    const text = letter.repeat(count);
    return isBuffer ? Buffer.from(text) : text;
  });

test("texts are sent in pieces, and compressed, in order and without loss", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(texts, { maxLength: 20 }),
      fc.constantFrom(5000, 65_536),
      async (given, bytes) => {
        const expected = Buffer.concat(given.map((text) => Buffer.from(text)));
        const pieces = Array.from(piecesOf(given, bytes), (piece) => Buffer.from(piece));
        expect(Buffer.concat(pieces).equals(expected)).toBe(true);
        expect(pieces.filter(({ length }) => length === 0 || length > bytes)).toEqual([]);
        expect(await bodyOf(given)).toEqual({ texts: given, bytes: expected.length });
        expect(gunzipSync(await compressed(given)).equals(expected)).toBe(true);
      },
    ),
    { numRuns: 60 },
  );
});
