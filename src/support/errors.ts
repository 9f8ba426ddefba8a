/** Returns the `code` of an error of Node.js or undici: `ENOENT`; `undefined` if it has none. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "unknown error";
}

/** Returns the stack of a caught bug. It contains no secret, since no error message ever contains one. */
export function describeBug(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : "something that is no error was thrown";
}
