import { createHmac, randomBytes } from "node:crypto";
import { verify } from "@node-rs/bcrypt";
import pLimit from "p-limit";
import type { Credentials } from "./basic-credentials.ts";

/** Passwords that wait for their turn, or have it; beyond them nobody waits. */
const MAX_UNDER_WAY = 100;
/** Answers remembered, of each kind. */
const MAX_REMEMBERED = 256;

export type Verdict = "right" | "wrong" | "busy";

/**
 * Whether these are the credentials of a user; `hash`: that user's bcrypt hash, or any other where there is none. `busy`
 * if too many wait, or as soon as the signal says that nobody waits for this one any more.
 */
export type CheckPassword = (
  credentials: Credentials,
  hash: string,
  isKnownUser: boolean,
  givenUp: AbortSignal,
) => Promise<Verdict>;

interface Check {
  readonly decided: Promise<Verdict>;
  waiting: number;
  isStarted: boolean;
}

/**
 * Checks one password at a time, in a thread of the pool, so that whoever guesses holds no more than one. What was found
 * is remembered under a keyed digest of user, password and hash, never the password: a look-up tells nothing by its
 * time. Right ones are kept apart from wrong ones, which therefore cannot push them out. What nobody waits for when its
 * turn comes is not checked; what was begun is, and remembered, so that a dear hash is found the next time.
 */
export function createPasswordCheck(): CheckPassword {
  const key = randomBytes(32);
  const oneAtATime = pLimit(1);
  const right = new Set<string>();
  const wrong = new Set<string>();
  const underWay = new Map<string, Check>();

  function begin(id: string, password: Buffer, hash: string, isKnownUser: boolean): Check {
    const decide = async (): Promise<Verdict> => {
      if (check.waiting === 0) return "busy";
      check.isStarted = true;
      const isRight = (await verify(password, hash)) && isKnownUser;
      remember(isRight ? right : wrong, id);
      return isRight ? "right" : "wrong";
    };
    const decided = oneAtATime(decide).finally(() => forget(id, check));
    const check: Check = { decided, waiting: 0, isStarted: false };
    underWay.set(id, check);
    return check;
  }

  function forget(id: string, check: Check): void {
    if (underWay.get(id) === check) underWay.delete(id);
  }

  function waitFor(id: string, check: Check, givenUp: AbortSignal): Promise<Verdict> {
    check.waiting += 1;
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        check.waiting -= 1;
        if (check.waiting === 0 && !check.isStarted) forget(id, check);
        resolve("busy");
      };
      givenUp.addEventListener("abort", giveUp, { once: true });
      check.decided.then(resolve, reject);
    });
  }

  return async ({ user, password }, hash, isKnownUser, givenUp) => {
    const id = createHmac("sha256", key)
      .update(JSON.stringify([user, hash, isKnownUser]))
      .update(password)
      .digest("base64");
    if (right.has(id)) return "right";
    if (wrong.has(id)) return "wrong";
    const sameOne = underWay.get(id);
    if (sameOne === undefined && underWay.size >= MAX_UNDER_WAY) return "busy";
    return waitFor(id, sameOne ?? begin(id, password, hash, isKnownUser), givenUp);
  };
}

/** The oldest one goes. */
function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > MAX_REMEMBERED && oldest !== undefined) ids.delete(oldest);
}
