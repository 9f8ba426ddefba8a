import { createHmac, randomBytes } from "node:crypto";
import { verify } from "@node-rs/bcrypt";
import type { Credentials } from "./basic-credentials.ts";
import { createFairQueue, type FairQueue } from "./fair-queue.ts";

/** Passwords that wait, of all clients that have failed lately, and of all others. */
const MAX_WAITING = 100;
/** Clients remembered because they have sent a wrong password. */
const MAX_FAILED_CLIENTS = 1024;
/** Answers remembered, of each kind. */
const MAX_REMEMBERED = 256;

export type Verdict = "right" | "wrong" | "busy";

export interface Attempt {
  readonly credentials: Credentials;
  /** That user's bcrypt hash, or any other if there is no such user. */
  readonly hash: string;
  readonly isKnownUser: boolean;
  /** Who asks, by address. */
  readonly client: string;
  /** Whether its connection has asked with a password that did not let it in. */
  readonly hasFailed: boolean;
}

/**
 * Whether these are the credentials of a user. `busy` if too many wait, or as soon as the signal says that this one waits
 * no longer.
 */
export type CheckPassword = (attempt: Attempt, givenUp: AbortSignal) => Promise<Verdict>;

interface Check {
  readonly queue: FairQueue<Check>;
  readonly id: string;
  readonly attempt: Attempt;
  readonly waiting: Set<(verdict: Verdict | Promise<Verdict>) => void>;
}

/**
 * Checks one password at a time, in a thread of the pool. Clients have turns, and so have the users that a client tries,
 * each once for connections that have failed before and once for others: whoever guesses delays another client, another
 * user, or a new connection by few checks. Clients that have sent a wrong password lately come after all others. When too
 * many wait, the client that has most of them waiting loses one.
 *
 * Results are remembered under a keyed digest of user, password and hash, never the password: a look-up reveals nothing
 * by its time. Right ones never wait, and wrong ones cannot push them out. A password that nobody waits for when its turn
 * comes is not checked; a check that has begun is remembered, so that an expensive hash is found the next time.
 */
export function createPasswordCheck(): CheckPassword {
  const key = randomBytes(32);
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

  function settle(check: Check, verdict: Verdict | Promise<Verdict>): void {
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
      settle(check, verdict);
    }
    isChecking = false;
  }

  function waitFor(check: Check, givenUp: AbortSignal): Promise<Verdict> {
    return new Promise((resolve) => {
      check.waiting.add(resolve);
      const giveUp = (): void => {
        resolve("busy");
        check.waiting.delete(resolve);
        const isUnwanted = check.waiting.size === 0;
        if (isUnwanted && check.queue.remove(check.attempt.client, partOf(check.attempt), check))
          checks.delete(keyOf(check));
      };
      givenUp.addEventListener("abort", giveUp, { once: true });
    });
  }

  return async (attempt, givenUp) => {
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
    const verdict = waitFor(check, givenUp);
    if (!checks.has(keyOf(check))) {
      checks.set(keyOf(check), check);
      const displaced = queue.add(client, partOf(attempt), check);
      if (displaced !== undefined) settle(displaced, "busy");
      void checkAll();
    }
    return verdict;
  };
}

function partOf({ credentials, hasFailed }: Attempt): string {
  return JSON.stringify([credentials.user, hasFailed]);
}

function keyOf({ id, attempt }: Pick<Check, "id" | "attempt">): string {
  return `${attempt.client} ${id}`;
}

/** The oldest one goes. */
function remember(ids: Set<string>, id: string, most = MAX_REMEMBERED): void {
  ids.delete(id);
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > most && oldest !== undefined) ids.delete(oldest);
}
