import { once } from "node:events";
import { promisify } from "node:util";
import { constants, createGzip } from "node:zlib";
import { inSlices } from "./slices.ts";

/** Long text is kept as UTF-8 outside of the heap, where one wide character would double it. */
export type Text = string | Buffer;
/** In UTF-16 units. */
export const LONG_TEXT = 16 * 1024;

/** The texts of lists, one after another. Together, those of a large fleet have tens of megabytes. */
export interface LongText {
  readonly lists: readonly (readonly Text[])[];
  /** Of all of them together: UTF-16 units of strings and bytes of buffers. */
  readonly length: number;
}

/** All texts in UTF-8, made in slices. */
export async function joined({ lists }: LongText): Promise<Buffer> {
  const blocks: Buffer[] = [];
  await inSlices(blocksOf(lists), (block) => void blocks.push(toBuffer(block)));
  return Buffer.concat(blocks);
}

export function toBuffer(text: Text): Buffer {
  return typeof text === "string" ? Buffer.from(text) : text;
}

/** What is compressed at once, and what comes of it at once. */
const PIECE_BYTES = 512 * 1024;
const CHUNK_BYTES = 64 * 1024;
/** UTF-8 has at most three bytes for a UTF-16 unit. */
const BYTES_OF_A_UNIT = 3;

/**
 * All texts in UTF-8, compressed by gzip, fast rather than small, in a thread and piece by piece: as one buffer they would make V8
 * collect the whole heap.
 */
export async function compressed({ lists, length }: LongText): Promise<Buffer> {
  const room = Buffer.allocUnsafe(Math.min(PIECE_BYTES, BYTES_OF_A_UNIT * length));
  const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: CHUNK_BYTES });
  const chunks: Buffer[] = [];
  gzip.on("data", (chunk: Buffer) => chunks.push(chunk));
  const write = promisify((piece: Buffer, done: (error?: Error | null) => void) => gzip.write(piece, done));
  async function writeAll(): Promise<void> {
    for (const piece of piecesOf(lists, room)) await write(piece);
    gzip.end();
  }
  await Promise.all([once(gzip, "end"), writeAll()]);
  return Buffer.concat(chunks);
}

/** All texts in UTF-8, in pieces that are valid until the next, since short ones are gathered in the room. */
function* piecesOf(lists: LongText["lists"], room: Buffer): Generator<Buffer> {
  let at = 0;
  for (const block of blocksOf(lists)) {
    const bytes = Buffer.byteLength(block);
    if (at > 0 && at + bytes > room.length) {
      yield room.subarray(0, at);
      at = 0;
    }
    if (bytes > room.length) yield toBuffer(block);
    else at += put(block, room, at);
  }
  yield room.subarray(0, at);
}

function put(text: Text, to: Buffer, at: number): number {
  return typeof text === "string" ? to.write(text, at) : text.copy(to, at);
}

/** Strings are gathered, since each conversion to bytes has a cost of its own; none is kept: the collector would have to move it. */
function* blocksOf(lists: LongText["lists"]): Generator<Text> {
  let gathered = "";
  for (const list of lists) {
    for (const text of list) {
      if (typeof text === "string") gathered += text;
      if (typeof text !== "string" || gathered.length > LONG_TEXT) {
        yield gathered;
        gathered = "";
      }
      if (typeof text !== "string") yield text;
    }
  }
  yield gathered;
}
