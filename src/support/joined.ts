import { inSlices } from "./slices.ts";

/** Long text is kept as UTF-8 outside of the heap, where one wide character would double it. */
export type Text = string | Buffer;
export const LONG_TEXT = 16 * 1024;

/** All texts of the lists in UTF-8, made in slices. Strings are gathered first, since each conversion to bytes has a cost of its own. */
export async function joined(lists: readonly (readonly Text[])[]): Promise<Buffer> {
  const blocks: Text[] = [];
  let bytes = 0;
  await inSlices(blocksOf(lists), (block) => {
    blocks.push(block);
    bytes += Buffer.byteLength(block);
  });
  const all = Buffer.allocUnsafe(bytes);
  let at = 0;
  await inSlices(blocks, (block) => {
    at += typeof block === "string" ? all.write(block, at) : block.copy(all, at);
  });
  return all;
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
