import type { IncomingMessage, ServerResponse } from "node:http";
import { send, type Reply } from "./reply.ts";

/** Of bodies that are being sent, each counted once. */
const MAX_BYTES = 32 * 2 ** 20;
/** An answer that takes longer to send is slow. */
const SLOW_MS = 2000;

/** Answers that are being sent, and a bound on the bodies that slow readers can hold. */
export interface Outgoing {
  /** Resolves when the bodies are within the bound; if they are not, it cuts the oldest answers as they become slow. */
  room(): Promise<void>;
  /** Sends a reply. If the bodies come to twice the bound with it, the oldest answers are cut. */
  send(request: IncomingMessage, response: ServerResponse, reply: Reply): void;
}

interface Answer {
  readonly body: Buffer;
  readonly sinceMs: number;
}

/** `nowMs`: monotonic. */
export function createOutgoing(nowMs = () => performance.now(), maxBytes = MAX_BYTES): Outgoing {
  /** The oldest first. */
  const answers = new Map<ServerResponse, Answer>();

  function bytes(): number {
    const bodies = new Set([...answers.values()].map(({ body }) => body));
    return [...bodies].reduce((sum, { length }) => sum + length, 0);
  }
  function cutOldest(): void {
    const [oldest] = answers.keys();
    if (oldest === undefined) return;
    answers.delete(oldest);
    oldest.destroy();
  }

  return {
    room: async () => {
      while (bytes() > maxBytes) {
        const [oldest] = answers.values();
        const waitMs = (oldest?.sinceMs ?? 0) + SLOW_MS - nowMs();
        if (waitMs <= 0) cutOldest();
        else await new Promise((resolve) => setTimeout(resolve, Math.min(waitMs, 100)));
      }
    },
    send: (request, response, reply) => {
      if (response.destroyed) return;
      const body = typeof reply.body === "string" ? Buffer.from(reply.body) : reply.body;
      answers.set(response, { body, sinceMs: nowMs() });
      response.once("close", () => answers.delete(response));
      while (answers.size > 1 && bytes() > 2 * maxBytes) cutOldest();
      send(request, response, { ...reply, body });
    },
  };
}
