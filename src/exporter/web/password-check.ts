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
 * The number of passwords that are remembered, in 4 MiB. Each takes a place at random: of 5,000 guesses, one in a hundred replaces a given
 * one.
 */
const PLACES = 2 ** 19;
/** This number stands in place of an ordinal. */
const WRONG = 2 ** 32 - 1;
/** The rank of a new password is this number minus its ordinal. */
const NEW = 2 ** 33;

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
  readonly digest: Buffer;
  /** The rank. The lowest is checked first: passwords that come again, the oldest first, and then new ones, the latest first. */
  readonly rank: number;
  resolve(result: CheckResult): void;
}

const checkInThread = (task: PasswordTask): Promise<boolean> => runInThread<boolean>("password-worker", task);

/**
 * Returns a function that checks one password at a time, in a thread. Passwords of origins whose latest password was not wrong come first,
 * and among these an origin with fewer waiting passwords comes before one with more. Passwords of all other origins follow together. Among
 * equals the lowest rank comes first. If too many wait, the last in this order is `busy`. So guesses delay another origin by a check or
 * two. They delay a repeated password of their own origin only by the earlier repeated passwords.
 *
 * The function remembers results under a keyed digest of user, password and hash, so that the time of a lookup reveals nothing. A password
 * with a remembered result never waits. A check that has started is always completed, so that its result is available next time.
 *
 * @param onError is called for the first error after a start or a success
 * @param isMatch returns whether a password has a hash
 */
export function createPasswordCheck(
  onError: (error: unknown) => void,
  isMatch: (task: PasswordTask) => Promise<boolean> = checkInThread,
): PasswordCheck {
  const key = randomBytes(32);
  /** The digests of right passwords, which are very few. Those of guesses are in `memory`. */
  const right = new Set<string>();
  /**
   * The remembered passwords. The place of a digest has four other bytes of it, and `WRONG` or the ordinal of the first request with this
   * password.
   */
  const memory = new Uint32Array(2 * PLACES);
  let requests = 0;
  /** The origins whose latest password was wrong. */
  const failing = new Set<string>();
  let waiting: readonly Check[] = [];
  let isChecking = false;
  let isBroken = false;

  const placeOf = (digest: Buffer): number => 2 * (digest.readUInt32LE(0) % PLACES);
  function recall(digest: Buffer): number | undefined {
    const place = placeOf(digest);
    return memory[place] === digest.readUInt32LE(4) ? memory[place + 1] : undefined;
  }
  function remember(digest: Buffer, number: number): void {
    memory.set([digest.readUInt32LE(4), number], placeOf(digest));
  }

  function known(digest: Buffer): CheckResult | undefined {
    if (right.has(digest.toString("base64"))) return "right";
    return recall(digest) === WRONG ? "wrong" : undefined;
  }

  async function verify({ digest, password, hash, origin }: Check): Promise<CheckResult> {
    const isRight = await isMatch({ password, hash });
    isBroken = false;
    if (isRight) {
      right.add(digest.toString("base64"));
      failing.delete(origin);
      return "right";
    }
    remember(digest, WRONG);
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
  function inOrder(): readonly Check[] {
    const byOrigin = groupBy(waiting, ({ origin }) => origin);
    const group = ({ origin }: Check): number =>
      failing.has(origin) ? Number.MAX_VALUE : (byOrigin.get(origin)?.length ?? 0);
    return waiting.toSorted((one, other) => group(one) - group(other) || one.rank - other.rank);
  }

  async function checkAll(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    for (let [next, ...others] = inOrder(); next !== undefined; [next, ...others] = inOrder()) {
      waiting = others;
      next.resolve(next.isGone() ? "busy" : (known(next.digest) ?? (await verify(next).catch(fail))));
    }
    isChecking = false;
  }

  return (attempt) => {
    const { user, password, hash } = attempt;
    const digest = createHmac("sha256", key)
      .update(JSON.stringify([user, hash]))
      .update(password)
      .digest();
    const result = known(digest);
    if (result !== undefined) return Promise.resolve(result);
    requests += 1;
    const firstAsked = recall(digest);
    if (firstAsked === undefined) remember(digest, requests);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve("busy"), MAX_WAIT_MS);
      const settle = (settled: CheckResult): void => {
        clearTimeout(timer);
        resolve(settled);
      };
      const rank = firstAsked ?? NEW - requests;
      waiting = [...waiting, { ...attempt, digest, rank, resolve: settle }];
      const [last] = inOrder().slice(MAX_WAITING);
      last?.resolve("busy");
      waiting = waiting.filter((one) => one !== last);
      void checkAll();
    });
  };
}
