import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { builtFile } from "./built.ts";

const MAX_MS = 60_000;

/**
 * Runs a built file in a thread of its own, with the task as its `workerData`, and returns the one message that it posts. Rejects if the
 * file posts none, or needs too much memory or more than a minute. Settles when the thread has ended, which a thread cannot do while it
 * reads from a file system that hangs.
 */
export async function runInThread<Result>(
  file: "config-worker" | "password-worker",
  task: object,
): Promise<Result> {
  const worker = new Worker(builtFile(`${file}.js`), { workerData: task });
  try {
    const signal = AbortSignal.timeout(MAX_MS);
    const ended = once(worker, "exit", { signal }).then(() => []);
    const [result]: readonly Result[] = await Promise.race([once(worker, "message", { signal }), ended]);
    if (result === undefined) throw new Error("the thread has no result");
    return result;
  } finally {
    await worker.terminate();
  }
}
