import { expect, test } from "vitest";
import { describeChanges, type Content } from "../../src/page/client/changes.ts";

/** A page with problems `p1`, `p2`..., of which some are shown, and events. */
function content(
  headline: string,
  problems: readonly string[],
  shown: Readonly<Record<string, string>>,
): Content {
  return { headline, problems: new Set(problems), texts: new Map(Object.entries(shown)) };
}

const WELL = content("All is well", [], { e1: "ams-2 took over" });
const WRONG = content("1 problem", ["p1"], { e1: "ams-2 took over", p1: "The shop is down" });

test("nothing is announced if nothing changed", () => {
  expect(describeChanges(WRONG, WRONG)).toBe("");
});

test("the headline comes first, then new problems, then those that are gone", () => {
  expect(describeChanges(WELL, WRONG)).toBe("1 problem. The shop is down.");
  expect(describeChanges(WRONG, WELL)).toBe("All is well. No longer: The shop is down.");
});

test("a new event is announced, one that leaves the list is not", () => {
  const later = content("All is well", [], { e2: "ams-1 took over" });
  expect(describeChanges(WELL, later)).toBe("ams-1 took over.");
});

test("a problem that moves in or out of sight is neither new nor gone", () => {
  const seen = content("2 problems", ["p1", "p2"], { p1: "The shop is down" });
  const moved = content("2 problems", ["p2", "p1"], { p2: "The blog is down" });
  expect(describeChanges(seen, moved)).toBe("");
});

test("of many changes four are announced and the others counted", () => {
  const ids = ["p1", "p2", "p3", "p4", "p5", "p6"];
  const many = content("6 problems", ids, Object.fromEntries(ids.map((id) => [id, `Problem ${id}`])));
  expect(describeChanges(content("All is well", [], {}), many)).toBe(
    "6 problems. Problem p1. Problem p2. Problem p3. Problem p4. 2 more changes.",
  );
});
