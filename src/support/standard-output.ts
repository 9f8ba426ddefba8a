import { writeSync } from "node:fs";
import { Socket } from "node:net";
import type { Writable } from "node:stream";

/** Where a command's results go. */
export interface StandardOutput {
  /** Writes all of it, or as much as there is room for; never throws. */
  write(text: string): void;
  /** Resolves when nothing more can be written, for want of room or of a reader. */
  readonly closed: Promise<void>;
  /** Whether results are missing that somebody may wait for. */
  hasLost(): boolean;
}

/**
 * Never takes results for written that are not. Whoever stops reading, as head does, misses nothing. `stream`: of the file
 * descriptor `fd`; `onLoss`: is told once why results are missing, in words of the runtime.
 */
export function openStandardOutput(
  stream: Writable,
  fd: number,
  onLoss: (why: string) => void,
): StandardOutput {
  let hasLost = false;
  const closed = new Promise<void>((resolve) => {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE" && !hasLost) {
        hasLost = true;
        onLoss(error.message);
      }
      resolve();
    });
  });
  // For a file the runtime's stream writes once, and is content with the part that there was room for.
  const write = stream instanceof Socket ? (text: string) => stream.write(text) : writeWhole;

  function writeWhole(text: string): void {
    try {
      for (let rest = Buffer.from(text); rest.length > 0;) rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      stream.emit("error", error);
    }
  }

  return {
    write: (text) => {
      if (!hasLost) write(text);
    },
    closed,
    hasLost: () => hasLost,
  };
}
