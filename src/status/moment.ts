/** An instant by both clocks, in milliseconds. */
export interface Moment {
  /** Unix time, to be told: it jumps when somebody sets the clock. */
  readonly wallMs: number;
  /** To tell how long ago it was. */
  readonly monotonicMs: number;
}
