import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { SUITES, toolPath } from "../support/tool.ts";

const PAGE = readFileSync(new URL("../../docs/reference/compatibility.md", import.meta.url), "utf8");
/** By the first word of their rows. */
const PROGRAMS = {
  Prometheus: ["prometheus", "promtool"],
  Alertmanager: ["prometheus-alertmanager", "amtool"],
  keepalived: ["keepalived"],
};

const VERSIONS = Object.entries(PROGRAMS).flatMap(([name, programs]) => {
  const [, row = ""] = new RegExp(`^\\| ${name}\\b[^|]*\\| (\\d.*) \\|$`, "m").exec(PAGE) ?? [];
  const versions = row.split(" | ");
  return [undefined, ...SUITES].flatMap((suite, nth) =>
    programs.map((program) => [program, suite ?? "this machine", versions[nth] ?? "none", suite] as const),
  );
});

// Tests with the programs of a suite that is missing are left out: this one fails.
test.for(VERSIONS)("%s of %s has version %s, or a newer one", ([program, , version, suite]) => {
  const { stdout, stderr } = spawnSync(toolPath(program, suite), ["--version"], { encoding: "utf8" });
  const [, actual = ""] = /(?:version | v)(\d+\.\d+\.\d+)/.exec(stdout + stderr) ?? [];
  const numbers = new Intl.Collator("en", { numeric: true });
  expect([version, actual].toSorted(numbers.compare)).toEqual([version, actual]);
});
