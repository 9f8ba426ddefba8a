import type { IncomingMessage } from "node:http";
import type { Handler } from "./visitor.ts";
import { send, text } from "./reply.ts";

/** Returns the path and query of a request, also of a request target in absolute form. @see RFC 9112, 3.2 */
function targetOf({ url = "/" }: IncomingMessage): string {
  const target = url.replace(/^https?:\/\/[^/?]*/i, "");
  return target === "" || target.startsWith("?") ? `/${target}` : target;
}

export function pathOf(request: IncomingMessage): string {
  return targetOf(request).replace(/\?.*$/s, "");
}

export function queryOf(request: IncomingMessage): URLSearchParams {
  const [, ...query] = targetOf(request).split("?");
  return new URLSearchParams(query.join("?"));
}

/**
 * Serves every path under a prefix such as `/exporter`, without a trailing slash; empty for none. `/` and the prefix
 * itself redirect to the status page; other paths outside the prefix are 404.
 *
 * @see https://prometheus.io/docs/prometheus/latest/command-line/prometheus/ (--web.route-prefix)
 */
export function underPrefix(prefix: string, handler: Handler): Handler {
  if (prefix === "") return handler;
  return (request, response, visitor) => {
    const target = targetOf(request);
    if (target.startsWith(`${prefix}/`)) {
      request.url = target.slice(prefix.length);
      handler(request, response, visitor);
      return;
    }
    const [path = "", query] = target.split("?", 2);
    const location = `${prefix}/${query === undefined ? "" : `?${query}`}`;
    const reply = path === "/" || path === prefix ? text(302, "Found", { location }) : text(404, "Not found");
    send(request, response, reply);
  };
}

/** Parses an http or https URL without credentials, query and fragment. */
export function parsePlainUrl(given: string): URL | undefined {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isPlain = url?.username === "" && url.password === "" && url.search === "" && url.hash === "";
  return isPlain && /^https?:$/.test(url.protocol) ? url : undefined;
}

/** The URL under which users reach the exporter, without a trailing slash, and its path as a prefix. */
export interface ExternalUrl {
  readonly url: string;
  readonly routePrefix: string;
}

export function parseExternalUrl(given: string): ExternalUrl | undefined {
  const plain = parsePlainUrl(given);
  const routePrefix = plain && parseRoutePrefix(plain.pathname);
  return plain && routePrefix !== undefined ? { url: plain.origin + routePrefix, routePrefix } : undefined;
}

/** Returns the prefix without a trailing slash; `undefined` if the text is not a path. */
export function parseRoutePrefix(path: string): string | undefined {
  return /^\/[\w.~!$&'()*+,;=:@%/-]*$/.test(path) && !path.includes("//")
    ? path.replace(/\/$/, "")
    : undefined;
}
