import { createHmac, randomBytes } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { runInThread } from "../support/thread.ts";
import { clientOf } from "./connections.ts";
import type { PasswordTask } from "./password-worker.ts";
import { pathOf } from "./paths.ts";
import { send, text, type Reply } from "./reply.ts";
import type { WebConfig } from "./web-config.ts";

/** Open for orchestrators, which have no password. Password guessing must not cause a restart. */
const OPEN_PATHS = ["/-/healthy", "/-/ready"];
/** How long a client waits for its password check; less than Prometheus's default scrape timeout. */
const MAX_WAIT_MS = 5000;
/** Waiting passwords. */
const MAX_WAITING = 100;
/** Origins of wrong passwords. When there are more, they are forgotten. */
const MAX_FAILING = 1024;
/** Passwords that are remembered, in 4 MiB. Each takes a place at random: of 5,000 guesses, one in a hundred replaces a given one. */
const PLACES = 2 ** 19;
/** In place of an ordinal. */
const WRONG = 2 ** 32 - 1;

export type Verdict = "right" | "wrong" | "busy";

const UNAUTHORIZED = text(401, "Unauthorized", {
  "www-authenticate": 'Basic realm="appliance-exporter", charset="UTF-8"',
});
const REFUSALS: Readonly<Record<Verdict, Reply | undefined>> = {
  right: undefined,
  wrong: UNAUTHORIZED,
  busy: text(503, "Too many passwords to check", { "retry-after": "1" }),
};

/**
 * Adds response headers and requires passwords, by the configuration at the time of the request. `routePrefix`: the prefix of
 * the paths that `handler` serves, without a trailing slash; empty for none.
 */
export function protect(
  handler: RequestListener,
  routePrefix: string,
  currentConfig: () => WebConfig,
): RequestListener {
  const check = createPasswordCheck();
  const openPaths = new Set(OPEN_PATHS.map((path) => `${routePrefix}${path}`));

  async function refusal(request: IncomingMessage, response: ServerResponse): Promise<Reply | undefined> {
    const { users } = currentConfig();
    if (users.size === 0 || openPaths.has(pathOf(request))) return undefined;
    const credentials = readBasicCredentials(request.headers.authorization);
    if (credentials === undefined) return UNAUTHORIZED;
    const known = users.get(credentials.user);
    const attempt = {
      ...credentials,
      hash: known?.reveal() ?? dummyHash(users),
      origin: `${clientOf(request.socket.remoteAddress)} ${known === undefined ? "" : credentials.user}`,
    };
    return REFUSALS[await check(attempt, patienceFor(response))];
  }

  return (request, response) => {
    for (const [name, value] of Object.entries(currentConfig().headers))
      if (value !== undefined) response.setHeader(name, value);
    refusal(request, response)
      .then((reply) => {
        // The client may have disconnected during the check.
        if (response.destroyed) return undefined;
        return reply === undefined ? handler(request, response) : send(request, response, reply);
      })
      .catch(() => response.destroy());
  };
}

/** Aborts after a timeout or when the client disconnects. */
function patienceFor(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), MAX_WAIT_MS);
  response.once("close", () => {
    clearTimeout(timer);
    controller.abort();
  });
  return controller.signal;
}

/** A hash that matches no password, with the highest cost of all users: response times do not reveal which users exist. */
function dummyHash(users: WebConfig["users"]): string {
  const costs = [...users.values()].map((hash) => hash.reveal().slice(4, 6));
  return `$2b$${costs.toSorted().at(-1) ?? "10"}$${".".repeat(53)}`;
}

/** The credentials of an Authorization header; `undefined` for another scheme or an invalid value. @see RFC 7617, 2 */
function readBasicCredentials(header = ""): Pick<Attempt, "user" | "password"> | undefined {
  const [, encoded] = /^basic ([A-Za-z0-9+/]+={0,2})$/i.exec(header) ?? [];
  if (encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, "base64");
  const colon = bytes.indexOf(":");
  if (colon < 0) return undefined;
  return { user: bytes.toString("utf8", 0, colon), password: bytes.subarray(colon + 1) };
}

interface Attempt {
  readonly user: string;
  /** Raw bytes, as bcrypt hashes bytes. */
  readonly password: Buffer;
  /** The user's bcrypt hash; for an unknown user, one that matches no password. */
  readonly hash: string;
  /** Whose failures count together: a known user at a client's address, or all unknown ones there. */
  readonly origin: string;
}

/** What decides when a password is checked. */
export interface Claim {
  /** Whether the latest password of its origin was wrong. */
  readonly isFailing: boolean;
  /** The ordinal of the first request with this password, if that is an earlier one. */
  readonly firstAsked: number | undefined;
}

interface Check extends Attempt, Pick<Claim, "firstAsked"> {
  /** Identifies the result. */
  readonly digest: Buffer;
  /** Aborted when the client no longer waits. */
  readonly signal: AbortSignal;
  resolve(verdict: Verdict | Promise<Verdict>): void;
}

/**
 * Negative if `one` is checked before `other`: first those of origins without a wrong password; of the same kind those that come
 * again, the oldest first; then the others, which are equal.
 */
export function compareClaims(one: Claim, other: Claim): number {
  const ageOf = ({ firstAsked = Number.MAX_VALUE }: Claim): number => firstAsked;
  return Number(one.isFailing) - Number(other.isFailing) || ageOf(one) - ageOf(other);
}

/** Remembers a number for a digest, in a place that another one may take; 0: none. */
function createMemory() {
  const [tags, numbers] = [new Uint32Array(PLACES), new Uint32Array(PLACES)];
  const placeOf = (digest: Buffer): number => digest.readUInt32LE(0) % PLACES;
  return {
    get: (digest: Buffer): number => {
      const place = placeOf(digest);
      return tags[place] === digest.readUInt32LE(4) ? (numbers[place] ?? 0) : 0;
    },
    set: (digest: Buffer, number: number): void => {
      const place = placeOf(digest);
      [tags[place], numbers[place]] = [digest.readUInt32LE(4), number];
    },
  };
}

/**
 * Returns a function that checks one password at a time, in a thread, in the order of `compareClaims`, and of equal ones the latest
 * first; if too many wait, the last in this order is `busy`. So guesses delay another origin by a check or two, and a password
 * that comes again from their own origin by those that came before it and come again. An attempt that its signal aborts is
 * `busy` too.
 *
 * Results are remembered under a keyed digest of user, password and hash, so that the time of a lookup reveals nothing, and
 * never wait again. A check that has started is always completed, so that its result is available next time.
 */
export function createPasswordCheck(): (attempt: Attempt, signal: AbortSignal) => Promise<Verdict> {
  const key = randomBytes(32);
  /** Very few: those of guesses are in `memory`. */
  const right = new Set<string>();
  /** By digest: `WRONG`, or the ordinal of the first request for a password that was not checked. */
  const memory = createMemory();
  let requests = 0;
  /** Origins whose latest password was wrong. */
  const failing = new Set<string>();
  /** The latest first. */
  let waiting: readonly Check[] = [];
  let isChecking = false;

  /** In the order in which they are checked. */
  function inOrder(): readonly Check[] {
    const claimOf = (check: Check): Claim => ({ ...check, isFailing: failing.has(check.origin) });
    return waiting.toSorted((one, other) => compareClaims(claimOf(one), claimOf(other)));
  }

  function known(digest: Buffer): Verdict | undefined {
    if (right.has(digest.toString("base64"))) return "right";
    return memory.get(digest) === WRONG ? "wrong" : undefined;
  }

  async function decide({ digest, password, hash, origin }: Check): Promise<Verdict> {
    const task: PasswordTask = { password, hash };
    const verdict =
      known(digest) ?? ((await runInThread<boolean>("password-worker", task)) ? "right" : "wrong");
    if (verdict === "right") {
      right.add(digest.toString("base64"));
      failing.delete(origin);
      return verdict;
    }
    memory.set(digest, WRONG);
    if (failing.size >= MAX_FAILING) failing.clear();
    failing.add(origin);
    return verdict;
  }

  async function checkAll(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    for (let [next] = inOrder(); next !== undefined; [next] = inOrder()) {
      const check = next;
      waiting = waiting.filter((one) => one !== check);
      if (check.signal.aborted) continue;
      const verdict = decide(check);
      await verdict.catch(() => {});
      check.resolve(verdict);
    }
    isChecking = false;
  }

  return (attempt, signal) => {
    const { user, password, hash } = attempt;
    const digest = createHmac("sha256", key)
      .update(JSON.stringify([user, hash]))
      .update(password)
      .digest();
    const verdict = known(digest);
    if (verdict !== undefined) return Promise.resolve(verdict);
    requests += 1;
    const firstAsked = memory.get(digest) || undefined;
    if (firstAsked === undefined) memory.set(digest, requests);
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve("busy"), { once: true });
      waiting = [{ ...attempt, digest, firstAsked, signal, resolve }, ...waiting];
      const last = waiting.length > MAX_WAITING ? inOrder().at(-1) : undefined;
      last?.resolve("busy");
      waiting = waiting.filter((one) => one !== last);
      void checkAll();
    });
  };
}
