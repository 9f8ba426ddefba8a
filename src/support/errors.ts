/** The `code` of an error of the runtime or of undici: `ENOENT`; `undefined` where there is none. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** A caught bug as text for the log: its stack. Holds no secret, since none is ever put into a message. */
export function describeBug(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : "something that is no error was thrown";
}
