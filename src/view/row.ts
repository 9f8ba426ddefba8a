import type { Level } from "../status/states.ts";
import type { Phrase } from "./time.ts";

/** `backup`: well, and a shape of its own. */
export type Sign = Level | "backup";

/** A row says this of one appliance. */
export interface Cell {
  /** The sign is the level that was judged; absent where nothing is judged. */
  readonly sign?: Sign;
  /** Empty if the row says nothing of the appliance. */
  readonly state: Phrase;
  readonly details?: readonly Phrase[];
}

/** A subject, its state in words, and a cell for each appliance. */
export interface Row {
  readonly title: string;
  /** This identifies the subject besides its title. */
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
