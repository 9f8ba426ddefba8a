import { isUtf8 } from "node:buffer";

/** An invalid byte 0xNN becomes the lone surrogate U+DCNN. */
const INVALID_BYTE_BASE = 0xdc00;

/** A multi-byte UTF-8 sequence, by the range of its first byte. */
interface Lead {
  readonly from: number;
  readonly to: number;
  readonly size: number;
  /** Bounds of the second byte; later bytes are 0x80 to 0xbf. */
  readonly second: readonly [number, number];
}

/** The well-formed sequences of the Unicode Standard, table 3-7. */
const LEADS: readonly Lead[] = [
  { from: 0xc2, to: 0xdf, size: 2, second: [0x80, 0xbf] },
  { from: 0xe0, to: 0xe0, size: 3, second: [0xa0, 0xbf] },
  { from: 0xe1, to: 0xec, size: 3, second: [0x80, 0xbf] },
  { from: 0xed, to: 0xed, size: 3, second: [0x80, 0x9f] },
  { from: 0xee, to: 0xef, size: 3, second: [0x80, 0xbf] },
  { from: 0xf0, to: 0xf0, size: 4, second: [0x90, 0xbf] },
  { from: 0xf1, to: 0xf3, size: 4, second: [0x80, 0xbf] },
  { from: 0xf4, to: 0xf4, size: 4, second: [0x80, 0x8f] },
];

const LEAD_OF_BYTE: readonly (Lead | undefined)[] = Array.from({ length: 256 }, (_, byte) =>
  LEADS.find(({ from, to }) => byte >= from && byte <= to),
);

/**
 * Decodes UTF-8 and drops a byte order mark. An invalid byte 0xNN becomes the lone surrogate U+DCNN, so that different
 * bytes stay different texts. Never throws; linear time.
 */
export function decodeText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const body = hasByteOrderMark(buffer) ? buffer.subarray(3) : buffer;
  return isUtf8(body) ? body.toString("utf8") : decodeBroken(body);
}

function hasByteOrderMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

function decodeBroken(bytes: Buffer): string {
  // A sequence never needs more UTF-16 units than it has bytes.
  const units = Buffer.allocUnsafe(bytes.length * 2);
  let end = 0;
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at] ?? 0;
    if (first < 0x80) {
      units[end] = first;
      units[end + 1] = 0;
      end += 2;
      at += 1;
      continue;
    }
    const size = sequenceSize(bytes, at);
    const codePoint = codePointAt(bytes, at, size);
    end = writeCodePoint(units, end, codePoint);
    at += Math.max(size, 1);
  }
  return units.toString("utf16le", 0, end);
}

/** The size of the well-formed sequence at `at`, in bytes; 0 if there is none. */
function sequenceSize(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const lead = LEAD_OF_BYTE[first];
  if (lead === undefined || !isWithin(bytes[at + 1], lead.second)) return 0;
  for (let index = 2; index < lead.size; index += 1) {
    if (!isWithin(bytes[at + index], [0x80, 0xbf])) return 0;
  }
  return lead.size;
}

function isWithin(byte: number | undefined, [from, to]: readonly [number, number]): boolean {
  return byte !== undefined && byte >= from && byte <= to;
}

function codePointAt(bytes: Buffer, at: number, size: number): number {
  const first = bytes[at] ?? 0;
  if (size === 0) return INVALID_BYTE_BASE + first;
  if (size === 1) return first;
  let codePoint = first & (0xff >> (size + 1));
  for (let index = 1; index < size; index += 1)
    codePoint = (codePoint << 6) | ((bytes[at + index] ?? 0) & 0x3f);
  return codePoint;
}

/** Writes at byte `at` and returns the byte after it. */
function writeCodePoint(units: Buffer, at: number, codePoint: number): number {
  if (codePoint < 0x1_0000) return units.writeUInt16LE(codePoint, at);
  const offset = codePoint - 0x1_0000;
  const low = units.writeUInt16LE(0xd800 | (offset >> 10), at);
  return units.writeUInt16LE(0xdc00 | (offset & 0x3ff), low);
}
