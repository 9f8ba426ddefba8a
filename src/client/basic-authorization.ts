import type { Secret } from "../support/secret.ts";

/** The value of an Authorization header for `user:password`. @see RFC 7617, 2 */
export function basicAuthorization(credentials: Secret): string {
  return `Basic ${Buffer.from(credentials.reveal()).toString("base64")}`;
}
