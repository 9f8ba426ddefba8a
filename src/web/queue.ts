import { setTimeout } from "node:timers/promises";
import { clientOf } from "./connections.ts";
import { text, type Reply } from "./reply.ts";

const MAX_PAUSE_MS = 500;

const BUSY = text(503, "Too many requests at once", { "retry-after": "1" });

interface Waiting {
  readonly socket: { readonly remoteAddress?: string | undefined; readonly destroyed: boolean };
}

/** Replies to a request for `what` with what `make` returns. */
export type Queue = (request: Waiting, what: string, make: () => Promise<Reply>) => Promise<Reply>;

interface Pending {
  readonly requests: Waiting[];
  readonly reply: Promise<Reply>;
}

/**
 * Makes one reply at a time, and pauses after each for as long as it took, at most half a second: a queue takes half of the
 * event loop. Requests for the same share a reply until it is made. 503 for a client's requests beyond `maxWaiting`: one
 * client cannot take the places of another.
 */
export function createQueue(maxWaiting: number, pause: (ms: number) => Promise<unknown> = setTimeout): Queue {
  /** The number of requests by client. */
  const waiting = new Map<string, number>();
  const pending = new Map<string, Pending>();
  let free: Promise<unknown> = Promise.resolve();

  function makeInTurn(what: string, make: () => Promise<Reply>): Pending {
    const requests: Waiting[] = [];
    let startedMs = 0;
    const reply = free
      .then(() => {
        startedMs = performance.now();
        return requests.every(({ socket }) => socket.destroyed) ? BUSY : make();
      })
      .finally(() => pending.delete(what));
    free = reply.catch(() => {}).then(() => pause(Math.min(performance.now() - startedMs, MAX_PAUSE_MS)));
    return { requests, reply };
  }

  return async (request, what, make) => {
    const client = clientOf(request.socket.remoteAddress);
    const count = waiting.get(client) ?? 0;
    if (count >= maxWaiting) return BUSY;
    waiting.set(client, count + 1);
    try {
      const shared = pending.get(what) ?? makeInTurn(what, make);
      pending.set(what, shared);
      shared.requests.push(request);
      return await shared.reply;
    } finally {
      const left = (waiting.get(client) ?? 1) - 1;
      if (left > 0) waiting.set(client, left);
      else waiting.delete(client);
    }
  };
}
