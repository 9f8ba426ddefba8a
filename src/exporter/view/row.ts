import type { Level } from "../judge/states.ts";
import type { Phrase } from "./time.ts";

/** The sign of a cell; `backup` is well, and has a shape of its own. */
export type Sign = Level | "backup";

/** The part of a row about one appliance. */
export interface Cell {
  /** The sign is the level that was judged; absent where nothing is judged. */
  readonly sign?: Sign;
  /** The state in words; empty if the row says nothing of the appliance. */
  readonly state: Phrase;
  readonly details?: readonly Phrase[];
}

/** A row with a subject, its state in words, and a cell for each appliance. */
export interface Row {
  readonly title: string;
  /** The text that identifies the subject besides its title. */
  readonly aside?: string | undefined;
  readonly level: Level;
  readonly words: readonly Phrase[];
  readonly cells: readonly Cell[];
}

export interface RowGroup {
  readonly kind: "vrrp" | "failover" | "websites" | "discovered" | "polling";
  readonly title: string;
  readonly rows: readonly Row[];
}
