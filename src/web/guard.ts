import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { readBasicCredentials, type Credentials } from "./basic-credentials.ts";
import { clientOf } from "./connections.ts";
import { createPasswordCheck, type Verdict } from "./password-check.ts";
import { send, text, type Reply } from "./reply.ts";
import { pathOf } from "./paths.ts";
import type { WebConfig } from "./web-config.ts";

/** Protects the pages; its rules can change. */
export interface Guard {
  /** `routePrefix`: in front of the paths that `handler` knows, without a slash at its end; empty for none. */
  protect(handler: RequestListener, routePrefix: string): RequestListener;
  /** From the next request on. */
  apply(rules: GuardRules): void;
}

type GuardRules = Pick<WebConfig, "users" | "headers">;

/** For orchestrators: they hold no secrets, and somebody who guesses passwords must not get us restarted. */
const OPEN_PATHS = ["/-/healthy", "/-/ready"];

/** How long a client waits for its password to be checked; less than Prometheus's usual timeout of a scrape. */
const MAX_WAIT_MS = 5000;

const UNAUTHORIZED = text(401, "Unauthorized", {
  "www-authenticate": 'Basic realm="appliance-exporter", charset="UTF-8"',
});
const BUSY = text(503, "Too many passwords to check", { "retry-after": "1" });

/** Adds headers and requires passwords, as the rules say. */
export function createGuard(initial: GuardRules): Guard {
  const check = createPasswordCheck();
  const failed = new WeakSet<Socket>();
  let rules = initial;

  async function refusal(request: IncomingMessage, response: ServerResponse): Promise<Reply | undefined> {
    if (rules.users.size === 0) return undefined;
    const credentials = readBasicCredentials(request.headers.authorization);
    if (credentials === undefined) return UNAUTHORIZED;
    const verdict = await withPatience(response, (givenUp) => judge(credentials, request.socket, givenUp));
    if (verdict !== "right") failed.add(request.socket);
    return replyTo(verdict);
  }

  function judge(credentials: Credentials, socket: Socket, givenUp: AbortSignal): Promise<Verdict> {
    const hash = rules.users.get(credentials.user)?.reveal();
    const attempt = {
      credentials,
      hash: hash ?? dummyHash(rules),
      isKnownUser: hash !== undefined,
      client: clientOf(socket.remoteAddress),
      hasFailed: failed.has(socket),
    };
    return check(attempt, givenUp);
  }

  return {
    protect: (handler, routePrefix) => {
      const openPaths = new Set(OPEN_PATHS.map((path) => `${routePrefix}${path}`));
      const isOpen = (request: IncomingMessage): boolean => openPaths.has(pathOf(request));
      return (request, response) => {
        for (const [name, value] of Object.entries(rules.headers)) response.setHeader(name, value);
        (isOpen(request) ? Promise.resolve(undefined) : refusal(request, response))
          .then((reply) => {
            // The client may have left while its password was checked.
            if (response.destroyed) return undefined;
            return reply === undefined ? handler(request, response) : send(request, response, reply);
          })
          .catch(() => response.destroy());
      };
    },
    apply: (next) => {
      rules = next;
    },
  };
}

/** Gives up after a while, or when the client has gone. */
async function withPatience<T>(
  response: ServerResponse,
  work: (givenUp: AbortSignal) => Promise<T>,
): Promise<T> {
  const patience = new AbortController();
  const giveUp = (): void => patience.abort();
  const timer = setTimeout(giveUp, MAX_WAIT_MS);
  response.once("close", giveUp);
  try {
    return await work(patience.signal);
  } finally {
    clearTimeout(timer);
    response.off("close", giveUp);
  }
}

function replyTo(verdict: Verdict): Reply | undefined {
  switch (verdict) {
    case "right":
      return undefined;
    case "wrong":
      return UNAUTHORIZED;
    case "busy":
      return BUSY;
    default:
      return verdict satisfies never;
  }
}

/** A hash with the highest cost of all users that fits no password: the time does not reveal whether a user exists. */
function dummyHash({ users }: GuardRules): string {
  const costs = [...users.values()].map((hash) => hash.reveal().slice(4, 6));
  return `$2b$${costs.toSorted().at(-1) ?? "10"}$${".".repeat(53)}`;
}
