import { setTimeout } from "node:timers/promises";
import { clientOf } from "./connections.ts";
import { BUSY, type Reply } from "./reply.ts";

const MAX_PAUSE_MS = 500;

interface Requester {
  readonly socket: { readonly remoteAddress?: string | undefined; readonly destroyed: boolean };
}

/** Replies to a request for `what` with the result of `make`. */
export type Queue = (request: Requester, what: string, make: () => Promise<Reply>) => Promise<Reply>;

interface Pending {
  readonly requests: (Requester & { readonly client: string })[];
  readonly reply: Promise<Reply>;
}

/**
 * Makes one reply at a time, and pauses after each for as long as it took, at most half a second, so that a queue takes half of the event
 * loop. Requests for the same content share a reply until it is made. A client's requests beyond `maxWaiting` get 503, so that one client
 * cannot take the places of another.
 */
export function createQueue(maxWaiting: number, pause: (ms: number) => Promise<unknown> = setTimeout): Queue {
  const pending = new Map<string, Pending>();
  let free: Promise<unknown> = Promise.resolve();

  function makeInTurn(what: string, make: () => Promise<Reply>): Pending {
    const requests: Pending["requests"] = [];
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

  return async ({ socket }, what, make) => {
    const client = clientOf(socket.remoteAddress);
    const waiting = [...pending.values()].flatMap(({ requests }) => requests);
    if (waiting.filter((one) => one.client === client).length >= maxWaiting) return BUSY;
    const shared = pending.get(what) ?? makeInTurn(what, make);
    pending.set(what, shared);
    shared.requests.push({ client, socket });
    return shared.reply;
  };
}
