import type { Level } from "../../status/severity.ts";
import type { Wording } from "./time.ts";

/** `backup`: as it should be. */
export type Sign = Level | "backup";

/** A text, or an instant in relation to now. */
export type Words = string | { readonly wording: Wording; readonly at: string };

/** What a row says of one appliance. */
export interface Cell {
  /** Absent where nothing is judged. */
  readonly sign?: Sign;
  readonly state: Words;
  readonly details?: readonly Words[];
}

/** A row of a cluster's table: a subject, its state in words, and a cell for each appliance. */
export interface Row {
  readonly title: string;
  /** What identifies the subject besides its title. */
  readonly aside?: string | undefined;
  readonly level: Level;
  readonly words: readonly Words[];
  readonly cells: readonly Cell[];
}

/** An instant in relation to now; nothing if it is not known. */
export function relative(wording: Wording, at: string | undefined): readonly Words[] {
  return at === undefined ? [] : [{ wording, at }];
}
