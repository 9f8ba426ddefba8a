import { expect, test } from "vitest";
import { formatTable } from "../../src/cli/table.ts";

test("what steers a terminal or turns the direction of writing is replaced, and columns stay aligned", () => {
  const rows = [
    ["a\u202Eb\u2066\u200F\u061C", "up"],
    ["c\u001B[31m\n", "down"],
  ];
  expect(formatTable(["name", "state"], rows)).toBe(
    "NAME     STATE\na\uFFFDb\uFFFD\uFFFD\uFFFD   up\nc\uFFFD[31m\uFFFD  down\n",
  );
});

test("a text that is too long is cut, so that columns stay in sight", () => {
  const [, line = ""] = formatTable(["name", "state"], [["x".repeat(3000), "up"]]).split("\n");
  expect(line).toBe(`${"x".repeat(239)}…  up`);
});
