import { gunzipSync } from "node:zlib";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { bodyOf, compressed, piecesOf } from "../../src/support/long-text.ts";
import { longTexts } from "./long-texts.ts";

/** Some are longer than a piece of what is compressed. */
const texts = longTexts(0, 1, 7, 20_000, 600_000);

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
    { numRuns: 20 },
  );
});
