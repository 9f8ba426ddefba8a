const LF = 0x0a;
const CR = 0x0d;

/** Takes the bytes of a connection, piece by piece; where the piece ends a request's head, the index behind that. */
export type FindHeadEnd = (piece: Uint8Array) => number | undefined;

/**
 * Finds where heads of requests end, each at its first empty line; a line ends with LF, with or without CR. Empty lines
 * before a request belong to it. It goes on with the bytes behind the end that it found.
 *
 * @see RFC 9112, 2.1 and 2.2
 */
export function createHeadFinder(): FindHeadEnd {
  let line: "before" | "empty" | "text" = "before";
  return (piece) => {
    for (const [index, byte] of piece.entries()) {
      if (byte === LF && line === "empty") {
        line = "before";
        return index + 1;
      }
      if (byte === LF && line === "text") line = "empty";
      else if (byte !== LF && byte !== CR) line = "text";
    }
    return undefined;
  };
}
