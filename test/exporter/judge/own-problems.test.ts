import { expect, test } from "vitest";
import type { OwnFacts } from "../../../src/exporter/judge/own-problems.ts";
import { fleetOf } from "../fleet/support.ts";
import { windowOf } from "../maintenance/support.ts";
import { applianceOf, failed, listOf, seen, WALL_MS } from "../../support/observations.ts";
import { createJudge, documentOf } from "./support.ts";

/** Appliances that stand alone: `u` is up, `d` down, `n` out of reach by name. */
function fleetWith(states: string) {
  const names = Array.from(states, (state, nth) => `${state}${nth}`);
  const polls = names.map((name) => {
    if (name.startsWith("u")) return seen.vrrp(name, listOf([]), { expiresAtMs: 1e12 });
    return failed.vrrp(name, name.startsWith("d") ? "timeout" : "dns", { expiresAtMs: 1e12 });
  });
  return fleetOf(
    names.map((name) => applianceOf({ name })),
    polls,
  );
}

function ownIn(states: string, facts: Partial<OwnFacts> = {}, judging = createJudge()): readonly string[] {
  return documentOf(fleetWith(states), facts, 0, judging)
    .problems.filter(({ cluster }) => cluster === undefined)
    .map(({ kind, summary }) => `${kind}: ${summary}`);
}

const TIMEOUT = "they do not answer in time (timeout)";

test.each([
  ["dd", []],
  ["ddu", []],
  ["dddu", [`exporter_blind: The exporter reaches 1 of 4 appliances: ${TIMEOUT}`]],
  ["ddduuu", []],
  ["dddduuu", [`exporter_blind: The exporter reaches 3 of 7 appliances: ${TIMEOUT}`]],
  [
    "ddnnn",
    [
      `exporter_blind: The exporter reaches 0 of 5 appliances: for 2 ${TIMEOUT} and for 3 their names do not resolve (dns)`,
    ],
  ],
] as const)("of the appliances %s, most are out of reach at once from three on", (states, problems) => {
  expect(ownIn(states)).toEqual(problems);
});

test("appliances that are worked on do not make the exporter blind", () => {
  const window = windowOf(
    { appliances: ["d0"] },
    { beginMs: WALL_MS - 1000, endMs: WALL_MS + 60_000, origin: "configuration" },
  );
  expect(ownIn("dddu", {}, createJudge([window]))).toEqual([]);
});

test("the exporter is blind since so many are out of reach that they are most", () => {
  const judge = createJudge();
  const fleet = fleetWith("uuuuu");
  const sinceAt = (atMs: number, name: string) => {
    fleet.record(failed.vrrp(name, "timeout", { expiresAtMs: 1e12 }), atMs);
    const [problem] = documentOf(fleet, {}, atMs, judge).problems;
    return problem?.kind === "exporter_blind" ? problem.since : undefined;
  };
  documentOf(fleet, {}, 0, judge);
  expect(["u0", "u1", "u2", "u3"].map((name, nth) => sinceAt(1000 * (nth + 1), name))).toEqual([
    undefined,
    undefined,
    "2023-11-14T22:13:23.000Z",
    "2023-11-14T22:13:23.000Z",
  ]);
});

test("polls that are late are a problem that names the slowest appliance", () => {
  const late = { sinceMs: WALL_MS, operation: "vrrp", count: 40, meanSeconds: 3.96 } as const;
  const polls = [1.25, 3.9].map((durationSeconds, nth) =>
    seen.vrrp(`waf-${nth}`, listOf([]), { durationSeconds }),
  );
  const fleet = fleetOf(
    ["waf-0", "waf-1"].map((name) => applianceOf({ name })),
    polls,
  );
  expect(documentOf(fleet, { late }).problems).toMatchObject([
    {
      kind: "polls_late",
      severity: "warning",
      summary: "Polls of VRRP lists start late, by 4.0 s on average; the slowest appliance is waf-1 (3.9 s)",
      since: "2023-11-14T22:13:20.000Z",
    },
  ]);
  const skipped = { ...late, operation: undefined, meanSeconds: undefined };
  expect(documentOf(fleet, { late: skipped }).problems[0]?.summary).toMatch(
    /^40 polls were skipped in 5 minutes; the slowest appliance is waf-1/,
  );
});
