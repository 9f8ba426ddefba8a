import type { IncomingMessage } from "node:http";

export const MAX_BODY_BYTES = 8 * 1024;

/**
 * Reads a body as it arrives, into memory that does not grow with the number of its pieces; `undefined` if the body is too large or its
 * client is gone. The server limits the time for this.
 */
export function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const body = Buffer.alloc(MAX_BODY_BYTES);
  let bytes = 0;
  return new Promise((resolve) => {
    request.on("data", (piece: Buffer) => {
      piece.copy(body, bytes);
      bytes += piece.length;
      if (bytes > MAX_BODY_BYTES) resolve(undefined);
    });
    request.once("end", () => resolve(body.subarray(0, bytes)));
    request.once("close", () => resolve(undefined));
  });
}
