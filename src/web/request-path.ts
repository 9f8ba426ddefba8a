import type { IncomingMessage } from "node:http";

/** What is asked for, from the first slash on, query and all; of the absolute form too. @see RFC 9112, 3.2 */
export function targetOf({ url = "/" }: IncomingMessage): string {
  const target = url.replace(/^https?:\/\/[^/?]*/i, "");
  return target === "" || target.startsWith("?") ? `/${target}` : target;
}

/** The same without the query. */
export function pathOf(request: IncomingMessage): string {
  const [path = "/"] = targetOf(request).split("?", 1);
  return path;
}
