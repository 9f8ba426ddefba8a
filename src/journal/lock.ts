import { once } from "node:events";
import { rm, stat } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { errorCode } from "../support/errors.ts";

const NAME = "lock.sock";
/** A socket's path has at most so many bytes. @see unix(7) */
const MAX_PATH_BYTES = 107;

/** Holds a folder for one exporter of this host. */
export interface Lock {
  /** Whether the folder still has the socket that shows it. */
  isHeld(): Promise<boolean>;
  /** Call it only when the file system answers: it removes the socket in this thread. */
  release(): void;
}

/** Whether the socket of a folder would have a path that is too long. */
export function isTooLong(folder: string): boolean {
  return Buffer.byteLength(join(folder, NAME)) > MAX_PATH_BYTES;
}

/**
 * Listens on a socket in the folder: other exporters see it in any namespace, and it ends with the process. Rejects if another one
 * has the folder.
 */
export async function lockFolder(folder: string): Promise<Lock> {
  const path = join(folder, NAME);
  // While the file system hangs, this waits in another thread; the socket is made in this one.
  await stat(path).catch(() => {});
  // An error of a socket that comes, as without file descriptors, ends nothing.
  const server = createServer((socket) => socket.destroy())
    .on("error", () => {})
    .unref();
  try {
    await listen(server, path);
  } catch (error) {
    if (errorCode(error) !== "EADDRINUSE") throw error;
    if (await isAnswered(path)) throw new Error(`another exporter uses ${folder}`, { cause: error });
    // A process that was killed has left it.
    await rm(path);
    await listen(server, path);
  }
  const { ino } = await stat(path);
  return {
    isHeld: async () => (await stat(path).catch(() => undefined))?.ino === ino,
    release: () => server.close(),
  };
}

async function listen(server: Server, path: string): Promise<void> {
  server.listen(path);
  await once(server, "listening");
}

async function isAnswered(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, "connect");
    return true;
  } catch (error) {
    // A stopped exporter may have a full queue of connections.
    return errorCode(error) === "EAGAIN";
  } finally {
    socket.destroy();
  }
}
