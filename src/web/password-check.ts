import { createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { PasswordCheckRequest } from "./password-worker.ts";

/** The built file, seen from the source and from the built program alike. */
const WORKER = new URL("../../dist/password-worker.js", import.meta.url);

/** Waiting passwords. */
const MAX_WAITING = 100;
/** Remembered right passwords, and likewise origins of wrong ones. When there are more, all are forgotten. */
const MAX_REMEMBERED = 1024;

/** The user name and password that a client sent. */
export interface Credentials {
  readonly user: string;
  /** Raw bytes, as bcrypt hashes bytes. */
  readonly password: Buffer;
}

export type Verdict = "right" | "wrong" | "busy";

export interface Attempt extends Credentials {
  /** The user's bcrypt hash; for an unknown user, one that matches no password. */
  readonly hash: string;
  /** Whose failures count together: a known user at a client's address, or all unknown ones there. */
  readonly origin: string;
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
 * Checks one password at a time, in a worker thread. The next one is of the origin with the fewest wrong passwords, the
 * latest first; if too many wait, the oldest of the origin with the most is refused. So password guessing delays others by
 * a check or two.
 *
 * Right passwords are remembered under a keyed digest of user, password and hash, so that the time of a lookup reveals
 * nothing, and never wait again. A check that has started is always completed, so that an expensive hash is available next
 * time.
 */
export function createPasswordCheck(): CheckPassword {
  const key = randomBytes(32);
  const verify = createVerify();
  const right = new Set<string>();
  /** Wrong passwords by origin. */
  const failures = new Map<string, number>();
  /** The latest first. */
  let waiting: readonly Check[] = [];
  let isChecking = false;

  /** In the order in which they are checked. */
  function inOrder(): readonly Check[] {
    const failuresOf = ({ origin }: Check): number => failures.get(origin) ?? 0;
    return waiting.toSorted((one, other) => failuresOf(one) - failuresOf(other));
  }

  async function decide({ id, password, hash, origin }: Check): Promise<Verdict> {
    if (right.has(id)) return "right";
    const isRight = await verify(password, hash);
    if (right.size >= MAX_REMEMBERED) right.clear();
    if (failures.size >= MAX_REMEMBERED) failures.clear();
    if (isRight) right.add(id);
    else failures.set(origin, (failures.get(origin) ?? 0) + 1);
    return isRight ? "right" : "wrong";
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
    const id = createHmac("sha256", key)
      .update(JSON.stringify([user, hash]))
      .update(password)
      .digest("base64");
    if (right.has(id)) return Promise.resolve("right");
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve("busy"), { once: true });
      waiting = [{ ...attempt, id, signal, resolve }, ...waiting];
      const last = waiting.length > MAX_WAITING ? inOrder().at(-1) : undefined;
      last?.resolve("busy");
      waiting = waiting.filter((one) => one !== last);
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
