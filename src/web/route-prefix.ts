import type { RequestListener } from "node:http";
import { send, text } from "./reply.ts";
import { targetOf } from "./request-path.ts";

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
