import { expect, test } from "vitest";
import { formatTable } from "../../../src/exporter/command/format.ts";

test("invisible characters are escaped, and columns stay aligned", () => {
  const rows = [
    ["a\u202Eb\u2066\u200F\u061C", "up"],
    ["c\u001B[31m\n", "down"],
    ["d\u200B\u{E0001}", "up"],
  ];
  expect(formatTable(["name", "state"], rows)).toBe(
    [
      "NAME                        STATE",
      "a\\u202eb\\u2066\\u200f\\u061c  up",
      "c\\u001b[31m                 down",
      "d\\u200b\\udb40\\udc01         up",
      "",
    ].join("\n"),
  );
});

test("a line ends with its last text as it is, and without colors of empty cells", () => {
  const rows = [
    ["a ", ""],
    ["b", { text: "", color: "red" }],
    ["c", "up  "],
  ] as const;
  expect(formatTable(["name", "state"], rows, true)).toBe("NAME  STATE\na \nb\nc     up  \n");
});

test("a table has any number of rows", () => {
  const rows = Array.from({ length: 200_000 }, (_, index) => [`waf-${index}`, "up"]);
  expect(formatTable(["name", "state"], rows).split("\n", 2)).toEqual([
    "NAME        STATE",
    "waf-0       up",
  ]);
});
