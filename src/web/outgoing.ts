import type { IncomingMessage, ServerResponse } from "node:http";
import { send, toBuffer, type Reply } from "./reply.ts";

/** Total size of the bodies being sent; a body that several responses share counts once. */
const MAX_BYTES = 32 * 2 ** 20;
/** A response that takes longer to send is slow. */
const SLOW_MS = 2000;

/** The responses being sent, with a limit on the bodies that slow clients keep in memory. */
export interface Outgoing {
  /** Resolves when the bodies are within the limit; until then, aborts the oldest responses as they become slow. */
  room(): Promise<void>;
  /** Sends a reply. If the bodies exceed twice the limit, aborts the oldest responses. */
  send(request: IncomingMessage, response: ServerResponse, reply: Reply): void;
}

interface Pending {
  readonly body: Buffer;
  readonly sinceMs: number;
}

/** `nowMs`: monotonic. */
export function createOutgoing(nowMs = () => performance.now(), maxBytes = MAX_BYTES): Outgoing {
  /** Oldest first. */
  const pending = new Map<ServerResponse, Pending>();

  function bytes(): number {
    const bodies = new Set([...pending.values()].map(({ body }) => body));
    return [...bodies].reduce((sum, { length }) => sum + length, 0);
  }
  function abortOldest(): void {
    const [oldest] = pending.keys();
    if (oldest === undefined) return;
    pending.delete(oldest);
    oldest.destroy();
  }

  return {
    room: async () => {
      while (bytes() > maxBytes) {
        const [oldest] = pending.values();
        const waitMs = (oldest?.sinceMs ?? 0) + SLOW_MS - nowMs();
        if (waitMs <= 0) abortOldest();
        else await new Promise((resolve) => setTimeout(resolve, Math.min(waitMs, 100)));
      }
    },
    send: (request, response, reply) => {
      if (response.destroyed) return;
      const body = toBuffer(reply.body);
      pending.set(response, { body, sinceMs: nowMs() });
      response.once("close", () => pending.delete(response));
      while (pending.size > 1 && bytes() > 2 * maxBytes) abortOldest();
      send(request, response, { ...reply, body });
    },
  };
}
