import { expect, test } from "vitest";
import { formatTable } from "../../src/cli/table.ts";

test("control characters and text direction are replaced, and columns stay aligned", () => {
  const rows = [
    ["a\u202Eb\u2066\u200F\u061C", "up"],
    ["c\u001B[31m\n", "down"],
  ];
  expect(formatTable(["name", "state"], rows)).toBe(
    "NAME     STATE\na\uFFFDb\uFFFD\uFFFD\uFFFD   up\nc\uFFFD[31m\uFFFD  down\n",
  );
});
