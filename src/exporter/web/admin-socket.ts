import { once } from "node:events";
import { statSync } from "node:fs";
import { chmod, chown, lstat, mkdtemp, rename, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { localUser } from "../maintenance/local-user.ts";
import { readFailure } from "../config/read-file.ts";
import { errorCode } from "../../support/errors.ts";
import { readBody } from "./body.ts";
import { pathOf } from "./paths.ts";
import { refusePages, send, text } from "./reply.ts";
import { STRANGER, type Handler } from "./visitor.ts";

/** Whoever is in the group of the process may connect. */
const MODE = 0o660;
/** The paths of the commands `maintenance`, `drill`, `ready` and `status`, and of a reload. */
const PATHS: ReadonlySet<string> = new Set([
  "/api/v1/fleet",
  "/api/v1/maintenance",
  "/-/reload",
  "/-/healthy",
  "/-/ready",
]);
const LIMITS = { headersTimeout: 5000, requestTimeout: 10_000, connectionsCheckingInterval: 1000 };
const MAX_CONNECTIONS = 32;
const DRAIN_MS = 3000;
/** Longer than a reload may take. A client that neither reads nor writes is disconnected. */
const IDLE_MS = 120_000;
/** With the name of the folder in which the socket is made, its path stays below the 107 bytes of unix(7). */
export const MAX_ADMIN_PATH_BYTES = 90;
/** The header with the name of the user that a command states. */
export const STATED_USER = "x-stated-user";

export interface RunningSocket {
  readonly ok: true;
  /** Stops listening, waits up to 3 seconds for responses, and removes the socket. */
  stop(): Promise<void>;
}

/**
 * Serves the routes of commands on a Unix socket without a password: who may connect, the mode and the group of the socket decide, which it
 * has before it is at its path. A socket that a killed process left is replaced, one that answers is an error.
 */
export async function startAdminSocket(
  path: string,
  handler: Handler,
): Promise<RunningSocket | { readonly ok: false; readonly message: string }> {
  const server = createServer(LIMITS, (request, response) => serve(request, response, handler));
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(IDLE_MS);
  let folder: string | undefined;
  let ino: number;
  try {
    const obstacle = await obstacleAt(path);
    if (obstacle !== undefined) return { ok: false, message: obstacle };
    // Nobody else can enter this folder, so that the umask does not matter.
    folder = await mkdtemp(join(dirname(path), ".admin-"));
    const hidden = join(folder, "s");
    server.listen(hidden);
    await once(server, "listening");
    server.on("error", () => {});
    const made = await lstat(hidden);
    ({ ino } = made);
    // In a folder with the setgid bit, it has the group of the folder. Elsewhere nothing is changed: the unit forbids that.
    const { gid } = statSync("/proc/self");
    if (made.gid !== gid) await chown(hidden, -1, gid);
    await chmod(hidden, MODE);
    await rename(hidden, path);
  } catch (error) {
    server.close();
    return { ok: false, message: describe(error, path) };
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
  return {
    ok: true,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
      // Another exporter may have replaced it.
      const present = await lstat(path).catch(() => undefined);
      if (present?.ino === ino) await rm(path, { force: true });
      await closed;
      clearTimeout(timer);
    },
  };
}

function serve(request: IncomingMessage, response: ServerResponse, handler: Handler): void {
  const { headers, headersDistinct, method } = request;
  response.setHeader("x-content-type-options", "nosniff");
  // No page of a browser gets here, unless somebody has put a proxy before the socket.
  const refusal =
    refusePages(request, "use the local socket") ??
    ((headersDistinct["host"] ?? []).length > 1 ? text(400, "Expected one Host header") : undefined) ??
    (PATHS.has(pathOf(request)) ? undefined : text(404, "The local socket serves commands only"));
  if (refusal !== undefined) {
    send(request, response, refusal);
    return;
  }
  const stated = headers[STATED_USER];
  handler(request, response, {
    user: { name: localUser(typeof stated === "string" ? stated : ""), maintains: true },
    isLocal: true,
    body: method === "POST" ? readBody(request) : STRANGER.body,
  });
}

/** Returns what is at the path and cannot be replaced. */
async function obstacleAt(path: string): Promise<string | undefined> {
  const there = await lstat(path).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  });
  if (there === undefined) return undefined;
  if (!there.isSocket()) return "a file that is not a socket is there: remove it, or choose another path";
  const socket = connect(path);
  try {
    await once(socket, "connect");
    return "another process serves there: stop it, or choose another path";
  } catch (error) {
    // A stopped process may have a full queue of connections.
    return errorCode(error) === "ECONNREFUSED"
      ? undefined
      : "another process may serve there: stop it, or choose another path";
  } finally {
    socket.destroy();
  }
}

function describe(error: unknown, path: string): string {
  const code = errorCode(error);
  const folder = dirname(path);
  if (code === "ENOENT" || code === "ENOTDIR")
    return `there is no folder ${folder}: create it for the user of the exporter`;
  if (code === "EROFS") return `the folder ${folder} is read-only: choose another path`;
  return `cannot create it in ${folder}: ${readFailure(error).message}`;
}
