import { parentPort } from "node:worker_threads";
import { bcryptVerify } from "hash-wasm";

/** A bcrypt hash and the password to check against it. */
export interface PasswordCheckRequest {
  readonly password: Uint8Array;
  readonly hash: string;
}

/** bcrypt uses no more of a password; a longer one would match everything that starts in the same way. */
const MAX_PASSWORD_BYTES = 72;

// The entry of a worker thread: it answers each request with a boolean, in order.
parentPort?.on("message", (request: PasswordCheckRequest) => {
  void isRight(request).then((verdict) => parentPort?.postMessage(verdict));
});

async function isRight({ password, hash }: PasswordCheckRequest): Promise<boolean> {
  if (password.length === 0 || password.length > MAX_PASSWORD_BYTES) return false;
  return bcryptVerify({ password, hash });
}
