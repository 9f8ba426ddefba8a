import { createHmac, randomBytes } from "node:crypto";
import { verify } from "@node-rs/bcrypt";
import pLimit from "p-limit";
import type { Credentials } from "./basic-credentials.ts";

/** Passwords that wait for their turn; beyond them nobody waits. */
const MAX_WAITING = 100;
/** Answers remembered, of each kind. */
const MAX_REMEMBERED = 256;

export type Verdict = "right" | "wrong" | "busy";

/** Whether these are the credentials of a user; `hash`: that user's bcrypt hash, or any other where there is none. */
export type CheckPassword = (
  credentials: Credentials,
  hash: string,
  isKnownUser: boolean,
) => Promise<Verdict>;

/**
 * Checks one password at a time, in a thread of the pool, so that whoever guesses holds no more than one. What was found
 * is remembered under a keyed digest of user, password and hash, never the password: a look-up tells nothing by its
 * time. Right ones are kept apart from wrong ones, which therefore cannot push them out.
 */
export function createPasswordCheck(): CheckPassword {
  const key = randomBytes(32);
  const oneAtATime = pLimit(1);
  const right = new Set<string>();
  const wrong = new Set<string>();
  const underWay = new Map<string, Promise<Verdict>>();

  async function decide(id: string, password: Buffer, hash: string, isKnownUser: boolean): Promise<Verdict> {
    const matches = await oneAtATime(() => verify(password, hash));
    const isRight = matches && isKnownUser;
    remember(isRight ? right : wrong, id);
    return isRight ? "right" : "wrong";
  }

  return async ({ user, password }, hash, isKnownUser) => {
    const id = createHmac("sha256", key)
      .update(JSON.stringify([user, hash, isKnownUser]))
      .update(password)
      .digest("base64");
    if (right.has(id)) return "right";
    if (wrong.has(id)) return "wrong";
    const sameOne = underWay.get(id);
    if (sameOne !== undefined) return sameOne;
    if (oneAtATime.pendingCount >= MAX_WAITING) return "busy";
    const decided = decide(id, password, hash, isKnownUser).finally(() => underWay.delete(id));
    underWay.set(id, decided);
    return decided;
  };
}

/** The oldest one goes. */
function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > MAX_REMEMBERED && oldest !== undefined) ids.delete(oldest);
}
