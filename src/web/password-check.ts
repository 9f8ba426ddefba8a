import { createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { PasswordCheckRequest } from "./password-worker.ts";

/** The built file, seen from the source and from the built program alike. */
const WORKER = new URL("../../dist/password-worker.js", import.meta.url);

/** Waiting passwords. */
const MAX_WAITING = 100;
/** Remembered results, and likewise origins of wrong passwords. When there are more, they are forgotten. */
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
 * Checks one password at a time, in a worker thread. Origins without a wrong password come first, and then the latest one;
 * if too many wait, the last in this order is refused. So password guessing delays others by a check or two.
 *
 * Results are remembered under a keyed digest of user, password and hash, so that the time of a lookup reveals nothing, and
 * never wait again. A check that has started is always completed, so that an expensive hash is available next
 * time.
 */
export function createPasswordCheck(): CheckPassword {
  const key = randomBytes(32);
  const verify = createVerify();
  const results = new Map<string, "right" | "wrong">();
  /** Origins whose latest password was wrong. */
  const failing = new Set<string>();
  /** The latest first. */
  let waiting: readonly Check[] = [];
  let isChecking = false;

  /** Guesses displace guesses: right passwords stay. */
  function remember(id: string, verdict: "right" | "wrong"): void {
    if (results.size >= MAX_REMEMBERED)
      for (const [known, its] of results) if (its === "wrong" || verdict === "right") results.delete(known);
    if (results.size < MAX_REMEMBERED) results.set(id, verdict);
  }

  /** In the order in which they are checked. */
  function inOrder(): readonly Check[] {
    const rank = ({ origin }: Check): number => Number(failing.has(origin));
    return waiting.toSorted((one, other) => rank(one) - rank(other));
  }

  async function decide({ id, password, hash, origin }: Check): Promise<Verdict> {
    const known = results.get(id);
    if (known !== undefined) return known;
    const verdict = (await verify(password, hash)) ? "right" : "wrong";
    remember(id, verdict);
    if (failing.size >= MAX_REMEMBERED) failing.clear();
    if (verdict === "right") failing.delete(origin);
    else failing.add(origin);
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
    const id = createHmac("sha256", key)
      .update(JSON.stringify([user, hash]))
      .update(password)
      .digest("base64");
    const known = results.get(id);
    if (known !== undefined) return Promise.resolve(known);
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
