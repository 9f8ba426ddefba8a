import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

import type { Secret } from "../support/secret.ts";

/** A user of the API. */
export interface ApplianceUser {
  /** Without a colon. */
  readonly username: string;
  readonly password: Secret;
}

const BASIC = /^basic +([a-z0-9+/]+=*) *$/i;

/**
 * Returns a check of `Authorization` headers for HTTP Basic credentials of one of `users`. It takes the same time for an
 * unknown user and a wrong password.
 *
 * @see management API 5
 */
export function createBasicAuth(
  users: readonly ApplianceUser[],
): (authorization: string | undefined) => boolean {
  const key = randomBytes(32);
  const digestOf = (credentials: string | Buffer) => createHmac("sha256", key).update(credentials).digest();
  const known = users.map(({ username, password }) => digestOf(`${username}:${password.reveal()}`));
  return (authorization) => {
    const encoded = BASIC.exec(authorization ?? "")?.[1];
    if (encoded === undefined) return false;
    const given = digestOf(Buffer.from(encoded, "base64"));
    // Compares all users, so that the time does not reveal which one matched.
    return known.filter((digest) => timingSafeEqual(digest, given)).length > 0;
  };
}
