import { once } from "node:events";
import { rm, stat } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { errorCode } from "../../support/errors.ts";

const NAME = "lock.sock";
/** The maximum bytes of a socket's path. @see unix(7) */
const MAX_PATH_BYTES = 107;

/** Holds a folder for one exporter of this host. */
export interface Lock {
  /** Whether the folder still has the socket of this lock. */
  isHeld(): Promise<boolean>;
  /** Removes the socket in this thread, so call it only when the file system answers. */
  release(): void;
  /** The user that holds the folder, by number. */
  readonly uid: number;
}

/** Whether the socket of a folder would have a path that is too long. */
export function isTooLong(folder: string): boolean {
  return Buffer.byteLength(join(folder, NAME)) > MAX_PATH_BYTES;
}

/**
 * Listens on a socket in the folder. Other exporters see the socket in any namespace, and it ends with the process. Rejects if another
 * exporter has the folder.
 */
export async function lockFolder(folder: string): Promise<Lock> {
  const path = join(folder, NAME);
  // While the file system hangs, this call waits in another thread. The socket is made in this thread.
  await stat(path).catch(() => {});
  // An error of an incoming socket, such as a lack of file descriptors, ends nothing.
  const server = createServer((socket) => socket.destroy())
    .on("error", () => {})
    .unref();
  try {
    await listen(server, path);
  } catch (error) {
    if (errorCode(error) !== "EADDRINUSE") throw error;
    if (await isAnswered(path)) throw new Error(`another exporter uses ${folder}`, { cause: error });
    // A killed process has left this socket.
    await rm(path);
    await listen(server, path);
  }
  const { ino, uid } = await stat(path);
  return {
    uid,
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
