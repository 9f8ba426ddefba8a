import { expect, test } from "vitest";
import { discoveredRows } from "../../../src/exporter/view/rows.ts";
import type { ClusterDocument } from "../../../src/exporter/document/schema.ts";
import { pair } from "../page/documents.ts";
import { cellsOf } from "../page/reading.ts";

type Discovered = NonNullable<ClusterDocument["discovered"]>["websites"][number];

const AMS = pair("ams");
const SHOP: Discovered = {
  id: 2,
  name: "shop",
  address: "shop.example:443",
  state: "ok",
  level: "well",
  at: {},
};

const rowsOf = (...websites: readonly Discovered[]) =>
  discoveredRows({ ...AMS, discovered: { websites: [...websites] } }).map(cellsOf);

test("a cluster without discovery has no rows", () => {
  expect(discoveredRows(AMS)).toEqual([]);
});

test("a website shows how each appliance protects it, and the servers behind it", () => {
  const backends: NonNullable<Discovered["at"][string]["backends"]> = [
    { address: "192.0.2.81:80", role: "active", isOk: true },
    { address: "192.0.2.82:80", role: "backup", isOk: false },
    { address: "192.0.2.83:80", role: "down", isOk: false },
  ];
  const at: Discovered["at"] = {
    "ams-1": { id: 2, isEnabled: true, mode: "protect", level: "warning", backends },
  };
  expect(rowsOf({ ...SHOP, state: "some_down", at })).toEqual([
    [
      "shop shop.example:443 Some down",
      "warning: protect 192.0.2.81:80 ok, 192.0.2.82:80 (backup) error and 192.0.2.83:80 (down) error",
      "not known here",
    ],
  ]);
});

test("256 websites have a row, and one row counts the others", () => {
  const websites = Array.from({ length: 257 }, (_, nth) => ({ ...SHOP, name: `shop-${nth}` }));
  const rows = rowsOf(...websites);
  expect(rows).toHaveLength(257);
  expect(rows.at(-1)?.[0]).toBe("1 more website The JSON of the status page has them all.");
});
