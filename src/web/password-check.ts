import { createHmac, randomBytes } from "node:crypto";
import { runInThread } from "../support/thread.ts";
import type { PasswordTask } from "./password-worker.ts";

/** Waiting passwords. */
const MAX_WAITING = 100;
/** Origins of wrong passwords. When there are more, they are forgotten. */
const MAX_FAILING = 1024;

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
 * Checks one password at a time, in a thread. Origins without a wrong password come first, and then the latest one;
 * if too many wait, the last in this order is refused. So password guessing delays others by a check or two.
 *
 * Right passwords are remembered under a keyed digest of user, password and hash, so that the time of a lookup reveals
 * nothing, and never wait again. A check that has started is always completed, so that its result is available next time.
 */
export function createPasswordCheck(): CheckPassword {
  const key = randomBytes(32);
  /** Very few: guesses are not remembered. */
  const right = new Set<string>();
  /** Origins whose latest password was wrong. */
  const failing = new Set<string>();
  /** The latest first. */
  let waiting: readonly Check[] = [];
  let isChecking = false;

  /** In the order in which they are checked. */
  function inOrder(): readonly Check[] {
    const rank = ({ origin }: Check): number => Number(failing.has(origin));
    return waiting.toSorted((one, other) => rank(one) - rank(other));
  }

  async function decide({ id, password, hash, origin }: Check): Promise<Verdict> {
    if (right.has(id) || (await verify({ password, hash }))) {
      right.add(id);
      failing.delete(origin);
      return "right";
    }
    if (failing.size >= MAX_FAILING) failing.clear();
    failing.add(origin);
    return "wrong";
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

function verify(task: PasswordTask): Promise<boolean> {
  return runInThread("password-worker", task);
}
