import { createHash } from "node:crypto";

/** The id of a cluster's element, one for each name. It needs no escaping in a URL or a selector. */
export function clusterId(name: string): string {
  return `cluster-${name.replace(/[^A-Za-z0-9.-]/g, (char) => `_${char.charCodeAt(0).toString(16)}_`)}`;
}

/** A short id made from what identifies a problem or an event. The browser finds the element again by it. */
export function keyedId(kind: "problem" | "event", key: readonly unknown[]): string {
  return `${kind}-${createHash("sha1").update(JSON.stringify(key)).digest("base64url").slice(0, 12)}`;
}
