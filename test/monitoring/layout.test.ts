import * as fc from "fast-check";
import { expect, test } from "vitest";
import { GRID_WIDTH, layOut } from "../../monitoring/grafana/dashboard/layout.ts";

const panel = (width: number, height: number) => ({ width, height });
const open = (...panels: readonly ReturnType<typeof panel>[]) => ({ collapsed: false, panels });

/** `x,y wxh`, a line for each row: its own place, then those of its panels. */
function drawn(rows: Parameters<typeof layOut>[0]): readonly string[] {
  return layOut(rows).map(({ gridPos, panels }) =>
    [gridPos, ...panels.map((placed) => placed.gridPos)]
      .map(({ x, y, w, h }) => `${x},${y} ${w}x${h}`)
      .join(" | "),
  );
}

test("panels stand beside each other until the grid is full, below the highest of the line before", () => {
  expect(drawn([open(panel(12, 4), panel(12, 6), panel(8, 2)), open(panel(24, 3))])).toEqual([
    "0,0 24x1 | 0,1 12x4 | 12,1 12x6 | 0,7 8x2",
    "0,9 24x1 | 0,10 24x3",
  ]);
});

test("a collapsed row takes a line of its own and no more", () => {
  expect(drawn([{ collapsed: true, panels: [panel(24, 8)] }, open(panel(6, 2))])).toEqual([
    "0,0 24x1 | 0,1 24x8",
    "0,1 24x1 | 0,2 6x2",
  ]);
});

test("a row without panels takes a line", () => {
  expect(drawn([open(), open()])).toEqual(["0,0 24x1", "0,1 24x1"]);
});

test("a panel that does not fit the grid is an error", () => {
  expect(() => layOut([open(panel(25, 4))])).toThrow("a panel cannot be 25 by 4 on a grid of 24");
  expect(() => layOut([open(panel(0, 4))])).toThrow("a panel cannot be 0 by 4 on a grid of 24");
  expect(() => layOut([open(panel(4, 0))])).toThrow("a panel cannot be 4 by 0 on a grid of 24");
});

test("whatever the sizes, nothing in open rows overlaps and nothing leaves the grid", () => {
  const sizes = fc.record({
    width: fc.integer({ min: 1, max: 24 }),
    height: fc.integer({ min: 1, max: 12 }),
  });
  const rows = fc.array(fc.record({ collapsed: fc.constant(false), panels: fc.array(sizes) }));
  fc.assert(
    fc.property(rows, (given) => {
      const cells = layOut(given).flatMap(({ gridPos, panels }) =>
        [gridPos, ...panels.map((placed) => placed.gridPos)].flatMap(cellsOf),
      );
      expect(new Set(cells).size).toBe(cells.length);
      expect(cells.every((cell) => Number.parseInt(cell, 10) < GRID_WIDTH)).toBe(true);
    }),
  );
});

/** `column,line` of every unit that a panel covers. */
function cellsOf({ x, y, w, h }: { x: number; y: number; w: number; h: number }): readonly string[] {
  return Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`);
}
