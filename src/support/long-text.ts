import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";
import { inSlices } from "./slices.ts";

/** Texts, one after another; buffers are in UTF-8. The texts of a large fleet have tens of megabytes together. */
export type LongText = readonly (string | Buffer)[];

/** The size of a piece, in UTF-16 units. Each piece waits for a turn of the event loop, and a busy loop has long turns. */
const PIECE_UNITS = 2 * 2 ** 20;
const CHUNK_BYTES = 256 * 1024;

/** All texts in UTF-8, made in slices. */
export async function joined(texts: LongText): Promise<Buffer> {
  const pieces: Buffer[] = [];
  await inSlices(piecesOf(texts), (piece) => void pieces.push(piece));
  return Buffer.concat(pieces);
}

/**
 * All texts in UTF-8, compressed by gzip, fast rather than small, in a thread and piece by piece: as one buffer they would make V8
 * collect the whole heap.
 */
export function compressed(texts: LongText): Promise<Buffer> {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: CHUNK_BYTES });
  return pipeline(piecesOf(texts), gzip, buffer);
}

/**
 * Gathers texts, since each conversion to bytes has a cost of its own. It keeps none of them: the garbage collector would have
 * to move it.
 */
function* piecesOf(texts: LongText): Generator<Buffer> {
  let gathered = "";
  for (const text of texts) {
    if (typeof text === "string") gathered += text;
    if (typeof text === "string" && gathered.length < PIECE_UNITS) continue;
    if (gathered !== "") yield toBuffer(gathered);
    gathered = "";
    if (typeof text !== "string") yield text;
  }
  if (gathered !== "") yield toBuffer(gathered);
}

export function toBuffer(text: string | Buffer): Buffer {
  return typeof text === "string" ? Buffer.from(text) : text;
}
