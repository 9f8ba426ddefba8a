import { styleText } from "node:util";
import { NAME_LENGTH, shortened } from "../page/view/shortened.ts";
import { printable } from "./printable.ts";

/** What a cell means, beside its words: they alone must be enough. */
export type Tone = "good" | "bad" | "doubtful" | "plain";

/** A text, or one that is coloured where the terminal has colours. */
export type Cell = string | { readonly text: string; readonly tone: Tone };

const STYLES = { good: "green", bad: "red", doubtful: "yellow" } as const;

/**
 * Rows in columns as wide as their widest cell, two blanks apart, under a header in capitals. Ends in a line break. Control
 * characters, those of the direction of writing among them, are replaced, and long texts are cut: what an appliance
 * supplies can neither steer a terminal nor push everything else out of it.
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly Cell[])[],
  hasColour = false,
): string {
  const titles: readonly Cell[] = header.map((title) => title.toUpperCase());
  const lines = [titles, ...rows];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => textOf(line[column]).length)));
  return lines.map((line) => `${formatLine(line, widths, hasColour)}\n`).join("");
}

function formatLine(cells: readonly Cell[], widths: readonly number[], hasColour: boolean): string {
  const last = cells.findLastIndex((cell) => textOf(cell) !== "");
  return cells
    .slice(0, last + 1)
    .map((cell, column) => {
      const padding = column === last ? 0 : (widths[column] ?? 0) - textOf(cell).length;
      return tint(cell, hasColour) + " ".repeat(padding);
    })
    .join("  ");
}

/** A text as a terminal is to show it: on one line, and coloured where that is wanted. */
export function tint(cell: Cell, hasColour: boolean): string {
  if (!hasColour || typeof cell === "string" || cell.tone === "plain") return textOf(cell);
  // Whether there are colours has been found out by the caller; it would ask the process.
  return styleText(STYLES[cell.tone], textOf(cell), { validateStream: false });
}

function textOf(cell: Cell = ""): string {
  return printable(shortened(typeof cell === "string" ? cell : cell.text, NAME_LENGTH));
}
