import { isUtf8 } from "node:buffer";

const BYTE_ORDER_MARK = Buffer.from("\uFEFF");

/** Bytes as Latin-1: runs of the well-formed sequences of the Unicode Standard, table 3-7, or one byte of anything else. */
const SEQUENCES =
  /(?:[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})+|[\x80-\xff]/g;

/**
 * Decodes UTF-8 and drops a byte order mark. An invalid byte 0xNN becomes the lone surrogate U+DCNN, so that different
 * bytes stay different texts. Never throws; linear time.
 */
export function decodeText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const hasMark = buffer.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const body = hasMark ? buffer.subarray(BYTE_ORDER_MARK.length) : buffer;
  if (isUtf8(body)) return body.toString("utf8");
  return body.toString("latin1").replace(SEQUENCES, (sequence) => {
    const isInvalid = sequence.length === 1;
    return isInvalid
      ? String.fromCharCode(0xdc00 + sequence.charCodeAt(0))
      : Buffer.from(sequence, "latin1").toString("utf8");
  });
}
