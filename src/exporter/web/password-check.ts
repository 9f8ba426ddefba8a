import { createHmac, randomBytes } from "node:crypto";
import { groupBy } from "../../support/group-by.ts";
import { runInThread } from "../../support/thread.ts";
import type { PasswordTask } from "./password-worker.ts";

/** The longest time that a password waits, which is less than Prometheus's default scrape timeout. */
const MAX_WAIT_MS = 5000;
/** The most passwords that wait. */
const MAX_WAITING = 100;
/** The most origins that are known to fail. One more makes all others forgotten. */
const MAX_FAILING = 1024;
/**
 * The result of a check. It is `busy` if too many passwords wait, this one has waited too long, or its client is gone. It is `failed` if
 * the check had an error.
 */
export type CheckResult = "right" | "wrong" | "busy" | "failed";

export interface Attempt {
  readonly user: string;
  /** The password as raw bytes, since bcrypt hashes bytes. */
  readonly password: Buffer;
  /** The user's bcrypt hash; for an unknown user, a hash that matches no password. */
  readonly hash: string;
  /** The origin, whose failures count together: a known user at a client's address, or all unknown ones there. */
  readonly origin: string;
  /** Returns whether the client has disconnected or has a response, so that the password is not checked. */
  readonly isGone: () => boolean;
}

export type PasswordCheck = (attempt: Attempt) => Promise<CheckResult>;

interface Check extends Attempt {
  /** The digest that identifies the result. */
  readonly digest: string;
  resolve(result: CheckResult): void;
}

const checkInThread = (task: PasswordTask): Promise<boolean> => runInThread<boolean>("password-worker", task);

/**
 * Returns a function that checks one password at a time, in a thread. All that were not found right yet wait in one line: origins whose
 * latest password was not wrong come first, and among these those with fewer waiting passwords; among equals the latest password. If too
 * many wait, the last in this order is `busy`. So guesses delay another origin by a check or two.
 *
 * The function remembers right passwords under a keyed digest of user, password and hash, so that the time of a lookup reveals nothing. Such
 * a password never waits. A check that has started is always completed, so that its result is available next time.
 *
 * @param onError is called for the first error after a start or a success
 * @param isMatch returns whether a password has a hash
 */
export function createPasswordCheck(
  onError: (error: unknown) => void,
  isMatch: (task: PasswordTask) => Promise<boolean> = checkInThread,
): PasswordCheck {
  const key = randomBytes(32);
  /** The digests of right passwords. */
  const right = new Set<string>();
  /** The origins whose latest password was wrong. */
  const failing = new Set<string>();
  let waiting: readonly Check[] = [];
  let isChecking = false;
  let isBroken = false;

  async function verify({ digest, password, hash, origin }: Check): Promise<CheckResult> {
    const isRight = await isMatch({ password, hash });
    isBroken = false;
    if (isRight) {
      right.add(digest);
      failing.delete(origin);
      return "right";
    }
    if (failing.size >= MAX_FAILING) failing.clear();
    failing.add(origin);
    return "wrong";
  }

  function fail(error: unknown): CheckResult {
    if (!isBroken) onError(error);
    isBroken = true;
    return "failed";
  }

  /** Returns the waiting passwords in the order in which they are checked. */
  function line(): readonly Check[] {
    const counts = groupBy(waiting, ({ origin }) => origin);
    const place = ({ origin }: Check): number =>
      failing.has(origin) ? Number.MAX_VALUE : (counts.get(origin)?.length ?? 0);
    return waiting.toSorted((one, other) => place(one) - place(other));
  }

  async function checkAll(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    for (let [next, ...others] = line(); next !== undefined; [next, ...others] = line()) {
      waiting = others;
      if (next.isGone()) next.resolve("busy");
      else next.resolve(right.has(next.digest) ? "right" : await verify(next).catch(fail));
    }
    isChecking = false;
  }

  return (attempt) => {
    const { user, password, hash } = attempt;
    const named = createHmac("sha256", key).update(JSON.stringify([user, hash]));
    const digest = named.update(password).digest("base64");
    if (right.has(digest)) return Promise.resolve("right");
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve("busy"), MAX_WAIT_MS);
      const settle = (settled: CheckResult): void => {
        clearTimeout(timer);
        resolve(settled);
      };
      waiting = [{ ...attempt, digest, resolve: settle }, ...waiting];
      const [last] = line().slice(MAX_WAITING);
      last?.resolve("busy");
      waiting = waiting.filter((one) => one !== last);
      void checkAll();
    });
  };
}
