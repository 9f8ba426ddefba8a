import { createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { createFairQueue } from "./fair-queue.ts";
import type { PasswordCheckRequest } from "./password-worker.ts";

/** The built file, seen from the source and from the built program alike. */
const WORKER = new URL("../../dist/password-worker.js", import.meta.url);

/** Waiting passwords. */
const MAX_WAITING = 100;
/** Remembered clients that have sent a wrong password. */
const MAX_FAILED_CLIENTS = 1024;
/** Remembered results of each kind. */
const MAX_REMEMBERED = 256;

/** The user name and password that a client sent. */
export interface Credentials {
  readonly user: string;
  /** Raw bytes, as bcrypt hashes bytes. */
  readonly password: Buffer;
}

export type Verdict = "right" | "wrong" | "busy";

export interface Attempt {
  readonly credentials: Credentials;
  /** The user's bcrypt hash; for an unknown user, one that matches no password. */
  readonly hash: string;
  /** From `clientOf`. */
  readonly client: string;
}

/** Checks a user's credentials. Resolves to `busy` if too many attempts wait, or when the signal aborts this one. */
export type CheckPassword = (attempt: Attempt, signal: AbortSignal) => Promise<Verdict>;

interface Check extends Attempt {
  /** Identifies the result. */
  readonly id: string;
  /** Aborted when the client no longer waits. */
  readonly signal: AbortSignal;
  resolve(verdict: Verdict | Promise<Verdict>): void;
}

/**
 * Checks one password at a time, in a worker thread. Clients take turns, and so do the users that a client tries. So password
 * guessing delays other clients and other users by only a few checks. Clients that have recently sent a wrong password take
 * their turns as one. If too many attempts wait, the client with the most of them loses one.
 *
 * Results are cached under a keyed digest of user, password and hash, so that the time of a lookup reveals nothing. Correct
 * passwords never wait, and wrong ones cannot evict them. A check that has started is always cached, so that an expensive
 * hash is available next time.
 */
export function createPasswordCheck(): CheckPassword {
  const key = randomBytes(32);
  const verify = createVerify();
  const right = new Set<string>();
  const wrong = new Set<string>();
  const failedClients = new Set<string>();
  const queue = createFairQueue<Check>(MAX_WAITING);
  let isChecking = false;

  function remembered(id: string): Verdict | undefined {
    if (right.has(id)) return "right";
    return wrong.has(id) ? "wrong" : undefined;
  }

  async function decide({ id, credentials, hash, client }: Check): Promise<Verdict> {
    const known = remembered(id);
    if (known !== undefined) return known;
    const isRight = await verify(credentials.password, hash);
    remember(isRight ? right : wrong, id);
    if (!isRight) remember(failedClients, client, MAX_FAILED_CLIENTS);
    return isRight ? "right" : "wrong";
  }

  async function checkAll(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    for (let check = queue.take(); check !== undefined; check = queue.take()) {
      if (check.signal.aborted) continue;
      const verdict = decide(check);
      await verdict.catch(() => {});
      check.resolve(verdict);
    }
    isChecking = false;
  }

  return (attempt, signal) => {
    const { client, hash, credentials } = attempt;
    const id = createHmac("sha256", key)
      .update(JSON.stringify([credentials.user, hash]))
      .update(credentials.password)
      .digest("base64");
    const known = remembered(id);
    if (known !== undefined) return Promise.resolve(known);
    const owner = failedClients.has(client) ? "failed" : client;
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve("busy"), { once: true });
      queue.add(owner, `${client} ${credentials.user}`, { ...attempt, id, signal, resolve })?.resolve("busy");
      void checkAll();
    });
  };
}

/** Verifies one password at a time, in a thread that starts with the first one. Rejects if the thread fails. */
function createVerify(): (password: Uint8Array, hash: string) => Promise<boolean> {
  let worker: Worker | undefined;

  function start(): Worker {
    const started = new Worker(WORKER);
    // It ends. The check that waits for it rejects, and the next one starts another.
    started.once("error", () => (worker = undefined));
    started.unref();
    return started;
  }

  return async (password, hash) => {
    worker ??= start();
    const request: PasswordCheckRequest = { password, hash };
    worker.postMessage(request);
    const [isRight]: readonly boolean[] = await once(worker, "message");
    return isRight === true;
  };
}

/** Evicts the oldest entry if the cache is full. */
function remember(ids: Set<string>, id: string, limit = MAX_REMEMBERED): void {
  ids.delete(id);
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > limit && oldest !== undefined) ids.delete(oldest);
}
