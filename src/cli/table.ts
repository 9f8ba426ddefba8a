import { styleText } from "node:util";
import { NAME_LENGTH, shortened } from "./shortened.ts";
import { printable } from "./printable.ts";

/** The color of a cell, which never conveys more than its text. */
export type Tone = "success" | "failure" | "warning" | "plain";

/** A text, or a text with a color for terminals that support colors. */
export type Cell = string | { readonly text: string; readonly tone: Tone };

const STYLES = { success: "green", failure: "red", warning: "yellow" } as const;

/**
 * Rows in aligned columns under a header in capitals, with a final line break. Replaces control characters and cuts long
 * texts, because the texts come from appliances.
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly Cell[])[],
  hasColor = false,
): string {
  const titles: readonly Cell[] = header.map((title) => title.toUpperCase());
  const lines = [titles, ...rows];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => textOf(line[column]).length)));
  return lines.map((line) => `${formatLine(line, widths, hasColor)}\n`).join("");
}

function formatLine(cells: readonly Cell[], widths: readonly number[], hasColor: boolean): string {
  const last = cells.findLastIndex((cell) => textOf(cell) !== "");
  return cells
    .slice(0, last + 1)
    .map((cell, column) => {
      const padding = column === last ? 0 : (widths[column] ?? 0) - textOf(cell).length;
      return colorize(cell, hasColor) + " ".repeat(padding);
    })
    .join("  ");
}

/** A cell as text on one line, colored if wanted. */
export function colorize(cell: Cell, hasColor: boolean): string {
  if (!hasColor || typeof cell === "string" || cell.tone === "plain") return textOf(cell);
  // The caller knows whether there are colors; styleText would check the process's stdout.
  return styleText(STYLES[cell.tone], textOf(cell), { validateStream: false });
}

function textOf(cell: Cell = ""): string {
  return printable(shortened(typeof cell === "string" ? cell : cell.text, NAME_LENGTH));
}
