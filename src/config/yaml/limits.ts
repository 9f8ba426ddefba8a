import { Lexer, Parser, type CST } from "yaml";

/** Collections within collections; far more than any of our files needs. */
const MAX_DEPTH = 64;

/** Words, signs, spaces and line breaks: a file of 4 MiB whose words are as short as ours has fewer. */
const MAX_LEXEMES = 2_500_000;

/** Thrown while tokens are read, where a text exceeds a limit; the message says which. */
export class TokenLimitError extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/**
 * The text's tokens, none of them nested deeper than 64 collections, and no more of them than memory bears.
 * What reads the tokens next is recursive, and deep input would kill the process; lexer and parser are not recursive,
 * so the nesting is taken from the parser itself, which no quoting, comment or indentation can fool.
 *
 * @throws TokenLimitError before any token beyond a limit is given out
 */
export function* tokensWithinLimits(text: string): Generator<CST.Token, void> {
  const parser = new Parser();
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    const offset = parser.offset - lexeme.length;
    if (depthOf(parser) > MAX_DEPTH) throw new TokenLimitError(offset, "nested deeper than 64 levels");
    lexemes += 1;
    if (lexemes > MAX_LEXEMES) throw new TokenLimitError(offset, `more than ${MAX_LEXEMES} YAML tokens`);
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
