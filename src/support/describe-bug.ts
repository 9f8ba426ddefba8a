/** A caught bug as text for the log: its stack. Holds no secret, since none is ever put into a message. */
export function describeBug(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : "something that is no error was thrown";
}
