import { styleText } from "node:util";
import { printable } from "../../support/text.ts";

export type Color = "green" | "red" | "yellow";

/** A text, or a text with a color for terminals that support colors. The color never conveys more than the text. */
export type TableCell = string | { readonly text: string; readonly color: Color };

export type TableRow = readonly TableCell[];

/** Writes indented JSON and a line break, without invisible characters. */
export function toJson(value: unknown): string {
  return printable(`${JSON.stringify(value, null, 2)}\n`);
}

/** Writes rows in aligned columns under a header in capitals, with a final line break, without invisible characters. */
export function formatTable(header: readonly string[], rows: readonly TableRow[], hasColor = false): string {
  return formatRows([header.map((title) => title.toUpperCase()), ...rows], hasColor);
}

/** Writes rows in aligned columns, as many as the first one has, each with a line break, without invisible characters. */
export function formatRows(rows: readonly TableRow[], hasColor = false): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((width, row) => Math.max(width, textOf(row[column]).length), 0),
  );
  return rows.map((row) => `${formatLine(row, widths, hasColor)}\n`).join("");
}

function formatLine(cells: TableRow, widths: readonly number[], hasColor: boolean): string {
  const last = cells.findLastIndex((cell) => textOf(cell) !== "");
  const padded = cells.slice(0, last + 1).map((cell, column) => {
    const padding = column === last ? 0 : (widths[column] ?? 0) - textOf(cell).length;
    return formatCell(cell, hasColor) + " ".repeat(padding);
  });
  return padded.join("  ");
}

/** Writes a cell as text on one line, colored if wanted. */
export function formatCell(cell: TableCell, hasColor: boolean): string {
  if (!hasColor || typeof cell === "string") return textOf(cell);
  // The caller knows whether there are colors; styleText would check the process's stdout.
  return styleText(cell.color, textOf(cell), { validateStream: false });
}

function textOf(cell: TableCell = ""): string {
  return printable(typeof cell === "string" ? cell : cell.text).replace(/[\n\t]/g, " ");
}
