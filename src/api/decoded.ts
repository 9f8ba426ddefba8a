/** A decoded answer, or why it cannot be decoded. Decoders never throw. */
export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: DecodeProblem };

export interface DecodeProblem {
  readonly reason: "decode" | "too_large";
  /** JSON path of the invalid value: `$`, `$.carp0`. */
  readonly path: string;
  /** The expected and the actual type; never the value itself. */
  readonly message: string;
}
