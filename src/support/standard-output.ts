import { writeSync } from "node:fs";
import { Socket } from "node:net";
import type { Writable } from "node:stream";

/** The destination of a command's results. */
export interface StandardOutput {
  /** Writes the text, or as much as fits; never throws. */
  write(text: string): void;
  /** Resolves when nothing more can be written: no space is left, or the reader closed the pipe. */
  readonly closed: Promise<void>;
  /** Whether results were lost that a reader expects. */
  hasLost(): boolean;
}

/**
 * Detects results that could not be written. A reader that stops, like head, loses nothing. `stream` writes to the file
 * descriptor `fd`; `onLoss` is called once, with the error message of Node.js.
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
  // The stream of a file writes once and ignores that only a part was written.
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
