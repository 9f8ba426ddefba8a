import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";
import { inSlices } from "./slices.ts";

/** The texts, one after another; buffers are in UTF-8. The texts of a large fleet have tens of megabytes together. */
export type LongText = readonly (string | Buffer)[];

/** Texts with their length in UTF-8. */
export interface Body {
  readonly texts: LongText;
  readonly bytes: number;
}

/** The size of a piece for the compressor. Each piece waits for a turn of the event loop, and a busy loop has long turns. */
const PIECE_BYTES = 2 * 2 ** 20;
const CHUNK_BYTES = 256 * 1024;

/** Adds the length, which is measured in slices. */
export async function bodyOf(texts: LongText): Promise<Body> {
  let bytes = 0;
  await inSlices(texts, (text) => void (bytes += Buffer.byteLength(text)));
  return { texts, bytes };
}

/** Compresses all texts in UTF-8 with gzip, fast rather than small, in a thread. */
export function compressed(texts: LongText): Promise<Buffer> {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: CHUNK_BYTES });
  return pipeline(piecesOf(texts, PIECE_BYTES), gzip, buffer);
}

/**
 * Returns all texts in UTF-8, in pieces of at most `bytes`, since more than 64 MiB of buffers would make V8 collect the whole heap, in long
 * steps. A piece has many texts, since each conversion to bytes has a cost of its own. The generator keeps no piece, since the garbage
 * collector would have to move it.
 */
export function* piecesOf(texts: LongText, bytes: number): Generator<Buffer> {
  for (const gathered of gatheredOf(texts, bytes)) {
    const whole = typeof gathered === "string" ? Buffer.from(gathered) : gathered;
    for (let at = 0; at < whole.length; at += bytes) yield whole.subarray(at, at + bytes);
  }
}

/** Joins texts up to `units` of UTF-16. A longer text stays alone. */
function* gatheredOf(texts: LongText, units: number): Generator<string | Buffer> {
  let gathered = "";
  for (const text of texts) {
    const isString = typeof text === "string";
    if (isString && gathered.length + text.length <= units) {
      gathered += text;
      continue;
    }
    yield gathered;
    gathered = isString ? text : "";
    if (!isString) yield text;
  }
  yield gathered;
}
