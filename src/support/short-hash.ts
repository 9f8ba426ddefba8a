import { createHash } from "node:crypto";

/** Returns 12 characters that identify a value of JSON; safe in URLs and selectors. */
export function shortHash(value: unknown): string {
  return createHash("sha1").update(JSON.stringify(value)).digest("base64url").slice(0, 12);
}
