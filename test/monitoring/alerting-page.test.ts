import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ALERTS } from "./alert-rules.ts";

const PAGE = readFileSync(new URL("../../docs/alerting.md", import.meta.url), "utf8");

test("the page names every alert with its severity and how long it must last", () => {
  const [, table = ""] =
    /^\| alert \| severity \| `for` \|\n\| --- \| --- \| --- \|\n((?:\|.*\n)*)/m.exec(PAGE) ?? [];
  const documented = table
    .trim()
    .split("\n")
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim())
        .join(" | "),
    );
  const actual = ALERTS.map((rule) => [rule.alert, rule.labels["severity"], rule.for ?? ""].join(" | "));
  expect(documented.toSorted()).toEqual(actual.toSorted());
});

test("the command that says where the runbook is changes every runbook_url", () => {
  const [, from = ""] = /sed -i 's#(https:[^#]*)#/.exec(PAGE) ?? [];
  expect(from).not.toBe("");
  expect(
    ALERTS.filter((rule) => !rule.annotations["runbook_url"]?.startsWith(`${from}docs/runbook.md#`)),
  ).toEqual([]);
});
