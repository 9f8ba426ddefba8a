import { readSync, writeSync } from "node:fs";

/**
 * A file system in memory, behind the FUSE device that is open as descriptor 3, for as long as it is mounted. While this process is
 * stopped by SIGSTOP, the file system hangs. @see fuse(4), include/uapi/linux/fuse.h
 */
const DEVICE_FD = 3;
const HEADER_BYTES = 40;
const REPLY_HEADER_BYTES = 16;
const MAX_WRITE_BYTES = 128 * 1024;
const ROOT = 1n;
const SIZE_IS_SET = 1 << 3;
const FOLDER = 0o040000;
const KIND = 0o170000;

const ENOENT = 2;
const EEXIST = 17;
const ENOSYS = 38;

interface Node {
  readonly id: bigint;
  readonly mode: number;
  data: Buffer;
  /** Of a folder, by name. */
  readonly children: Map<string, Node>;
}

const nodes = new Map<bigint, Node>();
const root = addNode(FOLDER | 0o755);

function addNode(mode: number): Node {
  const id = BigInt(nodes.size) + ROOT;
  const node = { id, mode, data: Buffer.alloc(0), children: new Map() };
  nodes.set(id, node);
  return node;
}

/** The fields of a structure, each by its width in bits. */
function packed(...fields: readonly (readonly [bits: 16 | 32 | 64, value: number | bigint])[]): Buffer {
  return Buffer.concat(
    fields.map(([bits, value]) => {
      const field = Buffer.alloc(bits / 8);
      if (bits === 64) field.writeBigUInt64LE(BigInt(value));
      else field.writeUIntLE(Number(value), 0, bits / 8);
      return field;
    }),
  );
}

const u32 = (value: number) => [32, value] as const;
const u64 = (value: number | bigint) => [64, value] as const;

function attributes({ id, mode, data }: Node): Buffer {
  const times = [u64(0), u64(0), u64(0), u32(0), u32(0), u32(0)];
  const blocks = Math.ceil(data.length / 512);
  const owner = [u32(mode), u32(1), u32(0), u32(0), u32(0), u32(4096), u32(0)];
  return packed(u64(id), u64(data.length), u64(blocks), ...times, ...owner);
}

/** Nothing is cached, so that each call of a program comes here. */
function entry(node: Node): Buffer {
  return Buffer.concat([packed(u64(node.id), u64(0), u64(0), u64(0), u32(0), u32(0)), attributes(node)]);
}

const OPENED = packed(u64(0), u32(0), u32(0));

function listing({ children }: Node): Buffer {
  const entries = Array.from(children, ([name, node], nth) => {
    const bytes = Buffer.from(name);
    const head = packed(u64(node.id), u64(nth + 1), u32(bytes.length), u32((node.mode & KIND) >> 12));
    return Buffer.concat([head, bytes, Buffer.alloc(-bytes.length & 7)]);
  });
  return Buffer.concat(entries);
}

/** The texts at the end of a request, each of which ends with NUL. */
function names(body: Buffer, offset = 0): readonly string[] {
  return body.subarray(offset).toString("utf8").split("\0");
}

function created(folder: Node, name = "", mode = 0): Buffer | number {
  if (folder.children.has(name)) return EEXIST;
  const node = addNode(mode);
  folder.children.set(name, node);
  return entry(node);
}

function resized(data: Buffer, size: number): Buffer {
  return Buffer.concat([data, Buffer.alloc(Math.max(0, size - data.length))]).subarray(0, size);
}

/** What answers a request: bytes, or the number of an error. */
function answerTo(opcode: number, node: Node, body: Buffer): Buffer | number {
  switch (opcode) {
    case 1: {
      const found = node.children.get(names(body)[0] ?? "");
      return found === undefined ? ENOENT : entry(found);
    }
    // GETATTR, SETATTR
    case 3:
    case 4:
      if (opcode === 4 && (body.readUInt32LE(0) & SIZE_IS_SET) !== 0)
        node.data = resized(node.data, Number(body.readBigUInt64LE(16)));
      return Buffer.concat([packed(u64(0), u32(0), u32(0)), attributes(node)]);
    // MKNOD, also of a socket
    case 8:
      return created(node, names(body, 16)[0], body.readUInt32LE(0));
    case 9:
      return created(node, names(body, 8)[0], FOLDER | body.readUInt32LE(0));
    // UNLINK, RMDIR
    case 10:
    case 11:
      return node.children.delete(names(body)[0] ?? "") ? Buffer.alloc(0) : ENOENT;
    // RENAME, RENAME2
    case 12:
    case 45: {
      const [from = "", to = ""] = names(body, opcode === 12 ? 8 : 16);
      const moved = node.children.get(from);
      if (moved === undefined) return ENOENT;
      node.children.delete(from);
      nodes.get(body.readBigUInt64LE(0))?.children.set(to, moved);
      return Buffer.alloc(0);
    }
    // OPEN, OPENDIR
    case 14:
    case 27:
      return OPENED;
    case 15:
    case 28: {
      const begin = Number(body.readBigUInt64LE(8));
      const size = body.readUInt32LE(16);
      if (opcode === 28) return begin === 0 ? listing(node) : Buffer.alloc(0);
      return node.data.subarray(begin, begin + size);
    }
    case 16: {
      const [begin, size] = [Number(body.readBigUInt64LE(8)), body.readUInt32LE(16)];
      node.data = resized(node.data, Math.max(node.data.length, begin + size));
      body.copy(node.data, begin, HEADER_BYTES, HEADER_BYTES + size);
      return packed(u32(size), u32(0));
    }
    // STATFS
    case 17:
      return packed(
        ...[1e6, 1e6, 1e6, 1e6, 1e6].map(u64),
        ...[4096, 255, 4096, 0, 0, 0, 0, 0, 0, 0].map(u32),
      );
    // RELEASE, FSYNC, FLUSH, RELEASEDIR
    case 18:
    case 20:
    case 25:
    case 29:
      return Buffer.alloc(0);
    // INIT, of version 7.31
    case 26: {
      const sizes = [u32(0), u32(0), [16, 0], [16, 0], u32(MAX_WRITE_BYTES), u32(1)] as const;
      return packed(u32(7), u32(31), ...sizes, ...Array.from({ length: 9 }, () => u32(0)));
    }
    case 35: {
      const made = created(node, names(body, 16)[0], body.readUInt32LE(4));
      return typeof made === "number" ? made : Buffer.concat([made, OPENED]);
    }
    default:
      return ENOSYS;
  }
}

/** The length of the next request; `undefined` when the file system is no longer mounted. */
function nextRequest(): number | undefined {
  try {
    return readSync(DEVICE_FD, request);
  } catch {
    return undefined;
  }
}

const request = Buffer.alloc(MAX_WRITE_BYTES + 4096);
for (let length = nextRequest(); length !== undefined; length = nextRequest()) {
  const opcode = request.readUInt32LE(4);
  // FORGET, INTERRUPT and BATCH_FORGET have no answer.
  if ([2, 36, 42].includes(opcode)) continue;
  const node = nodes.get(request.readBigUInt64LE(16)) ?? root;
  const answer = answerTo(opcode, node, request.subarray(HEADER_BYTES, length));
  const content = typeof answer === "number" ? Buffer.alloc(0) : answer;
  const head = Buffer.alloc(REPLY_HEADER_BYTES);
  head.writeUInt32LE(head.length + content.length, 0);
  head.writeInt32LE(typeof answer === "number" ? -answer : 0, 4);
  request.copy(head, 8, 8, 16);
  writeSync(DEVICE_FD, Buffer.concat([head, content]));
}
