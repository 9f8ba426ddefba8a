import { inSlices } from "./slices.ts";

/** Long text is kept as UTF-8 outside of the heap, where one wide character would double it. */
export type Text = string | Buffer;
export const LONG_TEXT = 16 * 1024;

/**
 * All texts of the lists in UTF-8, made in slices; `length`: of all of them together. Strings are gathered first, since each
 * conversion to bytes has a cost of its own, and none is kept: the collector would have to move it.
 */
export async function joined(lists: readonly (readonly Text[])[], length: number): Promise<Buffer> {
  let all = Buffer.allocUnsafe(length);
  let at = 0;
  await inSlices(blocksOf(lists), (block) => {
    const bytes = Buffer.byteLength(block);
    // Characters beyond ASCII take more than one byte.
    if (at + bytes > all.length) all = Buffer.concat([all], Math.ceil(1.5 * (at + bytes)));
    at += typeof block === "string" ? all.write(block, at) : block.copy(all, at);
  });
  return all.subarray(0, at);
}

function* blocksOf(lists: readonly (readonly Text[])[]): Generator<Text> {
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
