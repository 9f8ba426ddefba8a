import type { Level } from "../judge/states.ts";
import type { StripSubject } from "./strip.ts";
import type { Phrase } from "./time.ts";

/** How people see a state: its level; `planned` where planned work mutes what is wrong. */
export type Tone = Level | "planned";

/** The sign of a cell; `backup` is well, and has a shape of its own. */
export type Sign = Tone | "backup";

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
  readonly level: Tone;
  /** The keys of the subject in its cluster, as problems name it: of a website, one for each protocol. */
  readonly keys?: readonly string[];
  /** The subject in the past, if it has one: of a website, each protocol. */
  readonly subjects?: readonly StripSubject[];
  readonly words: readonly Phrase[];
  readonly cells: readonly Cell[];
}

/** Returns the key of a row's subject as a list; an older exporter names none. */
export function keyList(key: string | undefined): readonly string[] {
  return key === undefined ? [] : [key];
}

/** Returns whether something in the row is wrong or not known. */
export function isInTrouble({ level, cells }: Row): boolean {
  return level !== "well" || cells.some(({ sign = "well" }) => sign !== "well" && sign !== "backup");
}

export interface RowGroup {
  readonly kind: "vrrp" | "failover" | "websites" | "discovered" | "polling";
  readonly title: string;
  readonly rows: readonly Row[];
}
