/** A decoded answer, or why it is none. Decoders never throw. */
export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: DecodeProblem };

export interface DecodeProblem {
  readonly reason: "decode" | "too_large";
  /** JSON path of what was wrong: `$`, `$.carp0`. */
  readonly path: string;
  /** What was expected and what kind of thing was found; never the value itself. */
  readonly message: string;
}
