import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { readBody } from "./body.ts";
import { clientOf } from "./connections.ts";
import type { Attempt, CheckResult, PasswordCheck } from "./password-check.ts";
import { pathOf } from "./paths.ts";
import { CLOSE, send, text, type Reply } from "./reply.ts";
import { STRANGER, type Handler } from "./visitor.ts";
import type { WebConfig } from "./web-config.ts";

/** The paths without a password: orchestrators have none, and password guessing must not cause a restart. */
const OPEN_PATHS = ["/-/healthy", "/-/ready"];

const UNAUTHORIZED = text(401, "Unauthorized", {
  "www-authenticate": 'Basic realm="appliance-exporter", charset="UTF-8"',
});
const SEVERAL_HOSTS = text(400, "Expected one Host header", CLOSE);
const REFUSALS: Readonly<Record<CheckResult, Reply | undefined>> = {
  right: undefined,
  wrong: UNAUTHORIZED,
  busy: text(503, "Too many passwords to check", { "retry-after": "1" }),
  failed: text(500, "Passwords cannot be checked"),
};

/**
 * Adds response headers and requires passwords, by the configuration at the time of the request.
 *
 * @param routePrefix the prefix of the paths that `handler` serves, without a trailing slash; empty for none
 */
export function protect(
  handler: Handler,
  routePrefix: string,
  currentConfig: () => WebConfig,
  check: PasswordCheck,
): RequestListener {
  const openPaths = new Set(OPEN_PATHS.map((path) => `${routePrefix}${path}`));

  /** Returns the client's identity, if it is known, and the reply to a client that is refused. */
  async function identify(request: IncomingMessage, response: ServerResponse): Promise<AuthenticationResult> {
    const { users, tls } = currentConfig();
    if (users.size === 0 || openPaths.has(pathOf(request)))
      return { name: certifiedName(tls, request.socket) };
    const credentials = readBasicCredentials(request.headers.authorization);
    if (credentials === undefined) return { refusal: UNAUTHORIZED };
    const known = users.get(credentials.user);
    const attempt = {
      ...credentials,
      hash: known?.reveal() ?? dummyHash(users),
      origin: `${clientOf(request.socket.remoteAddress)} ${known === undefined ? "" : credentials.user}`,
      isGone: () => response.destroyed || response.writableEnded,
    };
    return { name: credentials.user, refusal: REFUSALS[await check(attempt)] };
  }

  return (request, response) => {
    const headers = { "x-content-type-options": "nosniff", ...currentConfig().headers };
    for (const [name, value] of Object.entries(headers))
      if (value !== undefined) response.setHeader(name, value);
    // A proxy may have read another one of them. Node.js refuses a request of HTTP/1.1 without any. @see RFC 9112, 3.2
    if ((request.headersDistinct["host"] ?? []).length > 1) return send(request, response, SEVERAL_HOSTS);
    // The body is read before the check, which takes time, since nothing else reads it then.
    const body = request.method === "POST" ? readBody(request) : STRANGER.body;
    identify(request, response)
      .then(({ name, refusal }) => {
        // The client may have disconnected during the check.
        if (response.destroyed) return undefined;
        if (refusal !== undefined) return send(request, response, refusal);
        const maintains = currentConfig().maintenanceUsers?.has(name ?? "") ?? true;
        return handler(request, response, {
          user: name === undefined ? undefined : { name, maintains },
          body,
        });
      })
      .catch(() => response.destroy());
  };
}

interface AuthenticationResult {
  readonly name?: string | undefined;
  readonly refusal?: Reply | undefined;
}

/** Returns the common name of a client's certificate, or else its subject, if the server requires and verifies one. */
function certifiedName(tls: WebConfig["tls"], socket: Socket): string | undefined {
  if (
    tls?.clientAuth !== "RequireAndVerifyClientCert" ||
    !(socket instanceof TLSSocket) ||
    !socket.authorized
  )
    return undefined;
  const lines = socket.getPeerX509Certificate()?.subject.split("\n") ?? [];
  const [name, ...others] = lines.flatMap((line) => (line.startsWith("CN=") ? line.slice("CN=".length) : []));
  return name === undefined || others.length > 0 ? lines.join(", ") : name;
}

/** Returns a hash that matches no password, with the highest cost of all users: response times do not reveal which users exist. */
function dummyHash(users: WebConfig["users"]): string {
  const costs = [...users.values()].map((hash) => hash.reveal().slice(4, 6));
  return `$2b$${costs.toSorted().at(-1) ?? "10"}$${".".repeat(53)}`;
}

/** Returns the credentials of an Authorization header; `undefined` for another scheme or an invalid value. @see RFC 7617, 2 */
function readBasicCredentials(header = ""): Pick<Attempt, "user" | "password"> | undefined {
  const [, encoded] = /^basic ([A-Za-z0-9+/]+={0,2})$/i.exec(header) ?? [];
  if (encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, "base64");
  const colon = bytes.indexOf(":");
  if (colon < 0) return undefined;
  return { user: bytes.toString("utf8", 0, colon), password: bytes.subarray(colon + 1) };
}
