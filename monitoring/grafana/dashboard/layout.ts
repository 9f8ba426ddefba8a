import type { GridPos } from "@grafana/grafana-foundation-sdk/dashboard";

/** Grafana's grid is as wide as this many units. */
export const GRID_WIDTH = 24;
const ROW_HEIGHT = 1;

/** In units of the grid. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

interface RowOf<T> {
  readonly collapsed: boolean;
  readonly panels: readonly T[];
}

export interface PlacedRow<T> {
  readonly gridPos: GridPos;
  readonly panels: readonly { readonly panel: T; readonly gridPos: GridPos }[];
}

/**
 * Places rows below each other, and the panels of each from left to right, in lines as high as their highest. Nothing
 * overlaps; the panels of a collapsed row lie below it as if it were open, and take no room from the next.
 *
 * @throws where a panel is wider than the grid, or has no width or height
 */
export function layOut<T extends Size>(rows: readonly RowOf<T>[]): readonly PlacedRow<T>[] {
  const placed: PlacedRow<T>[] = [];
  let y = 0;
  for (const { collapsed, panels } of rows) {
    const below = layOutLines(panels, y + ROW_HEIGHT);
    placed.push({ gridPos: { x: 0, y, w: GRID_WIDTH, h: ROW_HEIGHT }, panels: below.panels });
    y = collapsed ? y + ROW_HEIGHT : below.end;
  }
  return placed;
}

function layOutLines<T extends Size>(panels: readonly T[], top: number) {
  const placed: PlacedRow<T>["panels"][number][] = [];
  let [x, y, lineHeight] = [0, top, 0];
  for (const panel of panels) {
    const { width, height } = panel;
    if (!(width > 0 && width <= GRID_WIDTH && height > 0))
      throw new Error(`a panel cannot be ${width} by ${height} on a grid of ${GRID_WIDTH}`);
    if (x + width > GRID_WIDTH) [x, y, lineHeight] = [0, y + lineHeight, 0];
    placed.push({ panel, gridPos: { x, y, w: width, h: height } });
    x += width;
    lineHeight = Math.max(lineHeight, height);
  }
  return { panels: placed, end: y + lineHeight };
}
