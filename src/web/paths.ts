import type { IncomingMessage, RequestListener } from "node:http";
import { send, text } from "./reply.ts";

/** Where the configuration is reloaded. */
export const RELOAD_PATH = "/-/reload";

/** Pages that are where they are, whatever the flags say. */
export type PagePath = (typeof PAGE_PATHS)[number];
const PAGE_PATHS = ["/", "/-/healthy", "/-/ready", "/config", "/api/v1/fleet"] as const;

const TAKEN: ReadonlySet<string> = new Set([...PAGE_PATHS, RELOAD_PATH]);

/** Whether something else than metrics is served there. */
export function isTakenPath(path: string): boolean {
  return TAKEN.has(path) || path.startsWith("/assets/");
}

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

/**
 * Serves everything under a prefix: `/exporter` in front of every path, none with the empty one. `/` and the prefix itself
 * lead to the first page, other paths outside are 404. `prefix`: without a slash at its end.
 *
 * @see https://prometheus.io/docs/prometheus/latest/command-line/prometheus/ (--web.route-prefix)
 */
export function underPrefix(prefix: string, handler: RequestListener): RequestListener {
  if (prefix === "") return handler;
  return (request, response) => {
    const target = targetOf(request);
    if (target.startsWith(`${prefix}/`)) {
      request.url = target.slice(prefix.length);
      handler(request, response);
      return;
    }
    const isEntrance = target === "/" || target === prefix;
    const reply = isEntrance ? text(302, "Found", { location: `${prefix}/` }) : text(404, "Not found");
    send(request, response, reply);
  };
}

/** The prefix that a path means: without a slash at its end; `undefined` where it is no path. */
export function parseRoutePrefix(path: string): string | undefined {
  return /^\/[\w.~!$&'()*+,;=:@%/-]*$/.test(path) && !path.includes("//")
    ? path.replace(/\/$/, "")
    : undefined;
}
