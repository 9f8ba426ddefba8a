import type { Socket } from "node:net";

const CONTINUE = "HTTP/1.1 100";
/** No server needs more bytes; undici handles a longer answer. */
const MAX_BYTES = 1024;

/**
 * Skips one `100 Continue`, which undici rejects, at the start of what arrives after a call of the returned function. Must be called before
 * undici gets the socket, so that this listener reads first. All other bytes go back to the socket.
 *
 * @see RFC 9110, 15.2
 */
export function skipContinues(socket: Socket): () => void {
  let held: Buffer | undefined;
  socket.on("readable", () => {
    const chunk: Buffer | null = held === undefined ? null : socket.read();
    if (held === undefined || chunk === null) return;
    held = Buffer.concat([held, chunk]);
    const skipped = continueBytes(held);
    if (skipped === undefined) return;
    if (skipped < held.length) socket.unshift(held.subarray(skipped));
    held = undefined;
  });
  return () => void (held = Buffer.alloc(0));
}

/** Returns the length of the `100 Continue` that these bytes start with, 0 without one; `undefined` if more bytes are needed. */
export function continueBytes(bytes: Buffer): number | undefined {
  if (!CONTINUE.startsWith(bytes.toString("latin1", 0, CONTINUE.length))) return 0;
  const end = bytes.indexOf("\r\n\r\n");
  if (end >= 0) return end + 4;
  return bytes.length < MAX_BYTES ? undefined : 0;
}
