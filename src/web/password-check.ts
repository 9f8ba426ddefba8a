import { createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Credentials } from "./basic-credentials.ts";
import { createFairQueue, type FairQueue } from "./fair-queue.ts";
import type { PasswordCheckRequest } from "./password-worker.ts";

/** The built file, seen from the source and from the built program alike. */
const WORKER = new URL("../../dist/password-worker.js", import.meta.url);

/** Waiting passwords of clients that have failed recently, and of all others. */
const MAX_WAITING = 100;
/** Remembered clients that have sent a wrong password. */
const MAX_FAILED_CLIENTS = 1024;
/** Remembered results of each kind. */
const MAX_REMEMBERED = 256;

export type Verdict = "right" | "wrong" | "busy";

export interface Attempt {
  readonly credentials: Credentials;
  /** The user's bcrypt hash, or another one if there is no such user. */
  readonly hash: string;
  readonly isKnownUser: boolean;
  /** From `clientOf`. */
  readonly client: string;
  /** Whether an earlier attempt on this connection failed. */
  readonly hasFailed: boolean;
}

/** Checks a user's credentials. Resolves to `busy` if too many attempts wait, or when the signal aborts this one. */
export type CheckPassword = (attempt: Attempt, signal: AbortSignal) => Promise<Verdict>;

interface Check {
  readonly queue: FairQueue<Check>;
  readonly id: string;
  readonly attempt: Attempt;
  readonly waiting: Set<(verdict: Verdict | Promise<Verdict>) => void>;
}

/**
 * Checks one password at a time, in a worker thread. Clients take turns, and so do the users that a client tries, with
 * separate turns for connections that have failed before. So password guessing delays other clients, other users and new
 * connections by only a few checks. Clients that have recently sent a wrong password come after all others. If too many
 * attempts wait, the client with the most of them loses one.
 *
 * Results are cached under a keyed digest of user, password and hash, so that the time of a lookup reveals nothing. Correct
 * passwords never wait, and wrong ones cannot evict them. A password that no request waits for is not checked. A check that
 * has started is always cached, so that an expensive hash is available next time.
 */
export function createPasswordCheck(): CheckPassword {
  const key = randomBytes(32);
  const verify = createVerify();
  const right = new Set<string>();
  const wrong = new Set<string>();
  const failedClients = new Set<string>();
  const queues = { fresh: createFairQueue<Check>(MAX_WAITING), failed: createFairQueue<Check>(MAX_WAITING) };
  /** Waiting or being checked, by client and id. */
  const checks = new Map<string, Check>();
  let isChecking = false;

  function remembered(id: string): Verdict | undefined {
    if (right.has(id)) return "right";
    return wrong.has(id) ? "wrong" : undefined;
  }

  async function decide({ id, attempt }: Check): Promise<Verdict> {
    const known = remembered(id);
    if (known !== undefined) return known;
    const isRight = (await verify(attempt.credentials.password, attempt.hash)) && attempt.isKnownUser;
    remember(isRight ? right : wrong, id);
    if (!isRight) remember(failedClients, attempt.client, MAX_FAILED_CLIENTS);
    return isRight ? "right" : "wrong";
  }

  function resolveCheck(check: Check, verdict: Verdict | Promise<Verdict>): void {
    checks.delete(keyOf(check));
    for (const resolve of check.waiting) resolve(verdict);
  }

  function next(): Check | undefined {
    return queues.fresh.take() ?? queues.failed.take();
  }

  async function checkAll(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    for (let check = next(); check !== undefined; check = next()) {
      const verdict = decide(check);
      await verdict.catch(() => {});
      resolveCheck(check, verdict);
    }
    isChecking = false;
  }

  function waitFor(check: Check, signal: AbortSignal): Promise<Verdict> {
    return new Promise((resolve) => {
      check.waiting.add(resolve);
      const abort = (): void => {
        resolve("busy");
        check.waiting.delete(resolve);
        const isUnwanted = check.waiting.size === 0;
        if (isUnwanted && check.queue.remove(check.attempt.client, partOf(check.attempt), check))
          checks.delete(keyOf(check));
      };
      signal.addEventListener("abort", abort, { once: true });
    });
  }

  return async (attempt, signal) => {
    const { client, hash, isKnownUser, credentials } = attempt;
    const { user, password } = credentials;
    const id = createHmac("sha256", key)
      .update(JSON.stringify([user, hash, isKnownUser]))
      .update(password)
      .digest("base64");
    const known = remembered(id);
    if (known !== undefined) return known;
    const queue = failedClients.has(client) ? queues.failed : queues.fresh;
    const check: Check = checks.get(keyOf({ id, attempt })) ?? { queue, id, attempt, waiting: new Set() };
    const verdict = waitFor(check, signal);
    if (!checks.has(keyOf(check))) {
      checks.set(keyOf(check), check);
      const displaced = queue.add(client, partOf(attempt), check);
      if (displaced !== undefined) resolveCheck(displaced, "busy");
      void checkAll();
    }
    return verdict;
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

function partOf({ credentials, hasFailed }: Attempt): string {
  return JSON.stringify([credentials.user, hasFailed]);
}

function keyOf({ id, attempt }: Pick<Check, "id" | "attempt">): string {
  return `${attempt.client} ${id}`;
}

/** Evicts the oldest entry if the cache is full. */
function remember(ids: Set<string>, id: string, limit = MAX_REMEMBERED): void {
  ids.delete(id);
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > limit && oldest !== undefined) ids.delete(oldest);
}
