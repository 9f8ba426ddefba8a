import type { Socket } from "node:net";

/** As long as `HTTP/1.1 100 `. No answer is shorter. */
const START_BYTES = 13;
const CONTINUE = /^HTTP\/1\.[01] 100[ \r]/;
/** More than any server needs; a longer one is left to the parser, which rejects it. */
const MAX_CONTINUE_BYTES = 1024;
/** 408 answers no request: a server sends it when it closes an idle connection. @see RFC 9110, 15.5.9 */
const ANSWER = /^HTTP\/\d\.\d (?!408)\d{3}/;

/** The start of the answer to the latest request on a connection. */
export interface AnswerStart {
  /** A request is sent: what arrives from now on answers it. */
  expect(): void;
  /** Whether an answer has begun, and not only bytes that were sent before the request was seen. */
  isAnswer(): boolean;
}

/**
 * Skips one unasked `100 Continue` before each answer, which undici rejects. Must be called before undici gets the socket: reads
 * first, and gives back what follows.
 *
 * @see RFC 9110, 15.2
 */
export function watchAnswers(socket: Socket): AnswerStart {
  let start = "";
  /** Until it is known whether to skip it. */
  let held: Buffer | undefined;
  socket.on("readable", () => {
    const chunk: Buffer | null = held === undefined ? null : socket.read();
    if (held === undefined || chunk === null) return;
    held = Buffer.concat([held, chunk]);
    start = held.toString("latin1", 0, START_BYTES);
    const skipped = continueBytes(held);
    if (skipped === undefined) return;
    if (skipped < held.length) socket.unshift(held.subarray(skipped));
    held = undefined;
  });
  return {
    expect: () => {
      start = "";
      held = Buffer.alloc(0);
    },
    isAnswer: () => ANSWER.test(start),
  };
}

/** The length of a `100 Continue` at the start of these bytes; 0 if there is none, `undefined` if more bytes are needed. */
export function continueBytes(bytes: Buffer): number | undefined {
  const start = bytes.toString("latin1", 0, START_BYTES);
  if (start.length < START_BYTES) return "HTTP/1.".startsWith(start.slice(0, 7)) ? undefined : 0;
  if (!CONTINUE.test(start)) return 0;
  const end = bytes.indexOf("\r\n\r\n");
  if (end >= 0) return end + 4;
  return bytes.length < MAX_CONTINUE_BYTES ? undefined : 0;
}
