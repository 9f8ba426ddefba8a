import { parentPort, workerData } from "node:worker_threads";
import { bcryptVerify } from "hash-wasm";

export interface PasswordTask {
  readonly password: Uint8Array;
  readonly hash: string;
}

/** bcrypt uses no more of a password; a longer one would match everything that starts in the same way. */
const MAX_PASSWORD_BYTES = 72;

// This file is the entry of a thread, which does one task: it checks whether the password is right.
const { password, hash }: PasswordTask = workerData;
const isPossible = password.length > 0 && password.length <= MAX_PASSWORD_BYTES;
parentPort?.postMessage(isPossible && (await bcryptVerify({ password, hash })));
