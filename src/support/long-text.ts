import { buffer } from "node:stream/consumers";
import { constants, createGzip, type Gzip } from "node:zlib";
import { inSlices } from "./slices.ts";

/** The texts, one after another; buffers are in UTF-8. The texts of a large fleet have tens of megabytes together. */
export type LongText = readonly (string | Buffer)[];

/** Texts with their length in UTF-8. */
export interface SizedText {
  readonly texts: LongText;
  readonly bytes: number;
}

/** The size of a piece for the compressor. Each piece waits for a turn of the event loop, and a busy loop has long turns. */
const PIECE_BYTES = 2 * 2 ** 20;
const CHUNK_BYTES = 256 * 1024;

/** Adds the length, which is measured in slices. */
export async function bodyOf(texts: LongText): Promise<SizedText> {
  let bytes = 0;
  await inSlices(texts, (text) => void (bytes += Buffer.byteLength(text)));
  return { texts, bytes };
}

/** Compresses all texts in UTF-8 with gzip, fast rather than small, in a thread. */
export async function compressed(texts: LongText): Promise<Buffer> {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: CHUNK_BYTES });
  const [whole] = await Promise.all([buffer(gzip), write(texts, gzip)]);
  return whole;
}

async function write(texts: LongText, gzip: Gzip): Promise<void> {
  for (const piece of piecesOf(texts, PIECE_BYTES))
    await new Promise((resolve) => gzip.write(piece, resolve));
  gzip.end();
}

/**
 * Returns all texts in UTF-8, in pieces of at most `bytes`. All pieces share their memory, so each is overwritten by the next one: more
 * than 64 MiB of buffers would make V8 collect the whole heap, in long steps.
 */
export function* piecesOf(texts: LongText, bytes: number): Generator<Buffer> {
  const piece = Buffer.allocUnsafeSlow(Math.min(bytes, mostBytesOf(texts, bytes)));
  let filled = 0;
  for (const text of texts) {
    const most = mostBytes(text);
    if (filled > 0 && most > piece.length - filled) {
      yield piece.subarray(0, filled);
      filled = 0;
    }
    if (most > piece.length) yield* slices(typeof text === "string" ? Buffer.from(text) : text, bytes);
    else filled += typeof text === "string" ? piece.write(text, filled) : text.copy(piece, filled);
  }
  if (filled > 0) yield piece.subarray(0, filled);
}

/** Returns the most bytes of all texts that fit into a piece. A response of one long text, such as a compressed one, needs no memory. */
function mostBytesOf(texts: LongText, bytes: number): number {
  let sum = 0;
  for (const text of texts) {
    const most = mostBytes(text);
    if (most <= bytes) sum += most;
  }
  return sum;
}

/** Returns the most bytes that a text has in UTF-8, which are three for each unit of UTF-16. */
function mostBytes(text: string | Buffer): number {
  return typeof text === "string" ? 3 * text.length : text.length;
}

function* slices(whole: Buffer, bytes: number): Generator<Buffer> {
  for (let at = 0; at < whole.length; at += bytes) yield whole.subarray(at, at + bytes);
}
