import type { IncomingMessage, ServerResponse } from "node:http";
import { toBuffer } from "../support/long-text.ts";
import { send, type Reply } from "./reply.ts";

/** Total size of the bodies being sent; a body that several responses share counts once. */
const MAX_BYTES = 64 * 2 ** 20;

/** Sends a reply. If all bodies being sent exceed 64 MiB, aborts the oldest responses, which slow clients keep in memory. */
export type SendReply = (request: IncomingMessage, response: ServerResponse, reply: Reply) => void;

export function createOutgoing(maxBytes = MAX_BYTES): SendReply {
  /** Oldest first. */
  const pending = new Map<ServerResponse, Buffer>();

  function bytes(): number {
    return [...new Set(pending.values())].reduce((sum, { length }) => sum + length, 0);
  }

  return (request, response, reply) => {
    if (response.destroyed) return;
    const body = toBuffer(reply.body);
    pending.set(response, body);
    response.once("close", () => pending.delete(response));
    for (const [oldest] of pending) {
      if (pending.size === 1 || bytes() <= maxBytes) break;
      pending.delete(oldest);
      oldest.destroy();
    }
    send(request, response, { ...reply, body });
  };
}
