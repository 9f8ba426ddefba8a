import { Lexer, Parser, type CST } from "yaml";

/** Collections within collections; far more than any of our files needs. */
const MAX_DEPTH = 64;

/** Thrown while tokens are read, where the first collection lies deeper than 64. */
export class TooDeepError extends Error {
  readonly offset: number;

  constructor(offset: number) {
    super("nested too deep");
    this.offset = offset;
  }
}

/**
 * The text's tokens, none of them nested deeper than 64 collections.
 * What reads the tokens next is recursive, and deep input would kill the process; lexer and parser are not recursive,
 * so the nesting is taken from the parser itself, which no quoting, comment or indentation can fool.
 *
 * @throws TooDeepError before any deeper token is given out
 */
export function* tokensWithinDepth(text: string): Generator<CST.Token, void> {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (depthOf(parser) > MAX_DEPTH) throw new TooDeepError(parser.offset - lexeme.length);
  }
  yield* parser.end();
}

function depthOf({ stack }: Parser): number {
  // The stack is never shorter than the nesting, so that a short one needs no count.
  return stack.length > MAX_DEPTH ? stack.filter(isCollection).length : 0;
}

function isCollection({ type }: CST.Token): boolean {
  return type === "block-map" || type === "block-seq" || type === "flow-collection";
}
