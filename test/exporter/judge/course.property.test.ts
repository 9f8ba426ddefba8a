import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { GroupState } from "../../../src/exporter/judge/states.ts";
import { MEMBER_A, MEMBER_B, MEMBER_C } from "../fleet/support.ts";
import { failed, interfaceOf, listOf, seen } from "../../support/observations.ts";
import { judgedFleet } from "./support.ts";

// Hundreds of courses of a group, poll by poll.
vi.setConfig({ testTimeout: 40_000 });

/** Of each property. With `COURSE_RUNS=1000` there are so many courses. */
const RUNS = { numRuns: Number(process.env["COURSE_RUNS"] ?? 20) };

const INTERVAL_MS = 1000;
const MAX_ANSWER_MS = 900;
const LASTS_MS = 20_000;

/** What a member truly is at an instant. */
type Course = (member: string, atMs: number) => "MASTER" | "BACKUP" | "silent";

/** For each poll: how long its answer takes, and at which part of that time the appliance looks at its state. */
const answers = fc.array(
  fc.record({
    takesMs: fc.integer({ min: 1, max: MAX_ANSWER_MS }),
    looksAt: fc.integer({ min: 0, max: 1000 }).map((thousandths) => thousandths / 1000),
  }),
  { minLength: 3 * (LASTS_MS / INTERVAL_MS), maxLength: 3 * (LASTS_MS / INTERVAL_MS) },
);
type Answers = readonly { readonly takesMs: number; readonly looksAt: number }[];

interface Seen {
  readonly atMs: number;
  readonly state: GroupState | undefined;
}

/** The verdicts about the group of these members, which are polled together every second, after each answer. */
function verdictsOf(course: Course, delays: Answers, members = [MEMBER_A, MEMBER_B]): readonly Seen[] {
  const polls = Array.from({ length: LASTS_MS / INTERVAL_MS }, (_, round) =>
    members.map(({ name }, nth) => {
      const { takesMs, looksAt } = delays[round * members.length + nth] ?? { takesMs: 1, looksAt: 0 };
      const sentAtMs = round * INTERVAL_MS;
      const state = course(name, sentAtMs + takesMs * looksAt);
      return { name, sentAtMs, atMs: sentAtMs + (state === "silent" ? MAX_ANSWER_MS : takesMs), state };
    }),
  ).flat();
  const take = judgedFleet(members);
  return polls
    .toSorted((one, other) => one.atMs - other.atMs)
    .map(({ name, sentAtMs, atMs, state }) => {
      const given = { sentAtMs, expiresAtMs: atMs + 14_000 };
      const observation =
        state === "silent"
          ? failed.vrrp(name, "timeout", given)
          : seen.vrrp(name, listOf([interfaceOf({ state })]), given);
      const { now } = take(observation, atMs).judged;
      return { atMs, state: [...now.groups.values()][0]?.state };
    });
}

const statesIn = (verdicts: readonly Seen[]): ReadonlySet<GroupState | undefined> =>
  new Set(verdicts.map(({ state }) => state));

const failoverAt = fc.integer({ min: 4000, max: 9000 });

test("a clean failover is never a split brain and never without a master, however slow the answers are", () => {
  fc.assert(
    fc.property(answers, failoverAt, fc.boolean(), (delays, failsAtMs, hasThird) => {
      const course: Course = (member, atMs) =>
        member === (atMs < failsAtMs ? "a" : "b") ? "MASTER" : "BACKUP";
      const members = hasThird ? [MEMBER_A, MEMBER_B, MEMBER_C] : undefined;
      const verdicts = verdictsOf(course, delays, members);
      expect(statesIn(verdicts)).not.toContain("split_brain");
      expect(statesIn(verdicts)).not.toContain("no_master");
      expect(verdicts.at(-1)?.state).toBe("one_master");
    }),
    RUNS,
  );
});

test("neither is one there and back that lasts three polls", () => {
  fc.assert(
    fc.property(answers, failoverAt, fc.integer({ min: 3000, max: 6000 }), (delays, failsAtMs, lastsMs) => {
      const course: Course = (member, atMs) => {
        const isAway = atMs >= failsAtMs && atMs < failsAtMs + lastsMs;
        return member === (isAway ? "b" : "a") ? "MASTER" : "BACKUP";
      };
      const states = statesIn(verdictsOf(course, delays));
      expect(states).not.toContain("split_brain");
      expect(states).not.toContain("no_master");
    }),
    RUNS,
  );
});

test("a master that falls silent leaves its group unknown until another one takes over", () => {
  fc.assert(
    fc.property(answers, failoverAt, fc.integer({ min: 0, max: 4000 }), (delays, failsAtMs, takesMs) => {
      const course: Course = (member, atMs) => {
        if (member === "a") return atMs < failsAtMs ? "MASTER" : "silent";
        return atMs < failsAtMs + takesMs ? "BACKUP" : "MASTER";
      };
      const verdicts = verdictsOf(course, delays);
      expect(statesIn(verdicts)).not.toContain("split_brain");
      expect(statesIn(verdicts)).not.toContain("no_master");
      expect(verdicts.at(-1)?.state).toBe("backup_lost");
    }),
    RUNS,
  );
});

test("a master that is silent for two polls, and takes over again when it is back, is never a split brain", () => {
  fc.assert(
    fc.property(answers, failoverAt, fc.integer({ min: 2000, max: 6000 }), (delays, failsAtMs, lastsMs) => {
      const returnsAtMs = failsAtMs + lastsMs;
      const course: Course = (member, atMs) => {
        const isDown = atMs >= failsAtMs && atMs < returnsAtMs;
        if (member === "a") return isDown ? "silent" : "MASTER";
        return isDown ? "MASTER" : "BACKUP";
      };
      const verdicts = verdictsOf(course, delays);
      expect(statesIn(verdicts)).not.toContain("split_brain");
      expect(statesIn(verdicts)).not.toContain("no_master");
      expect(verdicts.at(-1)?.state).toBe("one_master");
    }),
    RUNS,
  );
});

test("a backup that takes over and gives back while it is silent never leaves its group without a master", () => {
  fc.assert(
    fc.property(answers, failoverAt, fc.integer({ min: 3000, max: 6000 }), (delays, failsAtMs, lastsMs) => {
      const course: Course = (member, atMs) => {
        const isAway = atMs >= failsAtMs && atMs < failsAtMs + lastsMs;
        if (member === "a") return isAway ? "silent" : "BACKUP";
        return isAway ? "BACKUP" : "MASTER";
      };
      const verdicts = verdictsOf(course, delays);
      expect(statesIn(verdicts)).not.toContain("no_master");
      expect(verdicts.at(-1)?.state).toBe("one_master");
    }),
    RUNS,
  );
});

test("a split brain is proven by the second poll after it was seen, and stays until it ends", () => {
  fc.assert(
    fc.property(answers, failoverAt, (delays, splitsAtMs) => {
      const course: Course = (member, atMs) => (member === "a" || atMs >= splitsAtMs ? "MASTER" : "BACKUP");
      const verdicts = verdictsOf(course, delays);
      const first = verdicts.findIndex(({ state }) => state === "split_brain");
      expect(verdicts[first]?.atMs).toBeLessThan(splitsAtMs + 2 * INTERVAL_MS + 2 * MAX_ANSWER_MS);
      expect(new Set(verdicts.slice(first).map(({ state }) => state))).toEqual(new Set(["split_brain"]));
    }),
    RUNS,
  );
});

test("failovers again and again within seconds are hardly ever a split brain or a missing master", () => {
  const failovers = fc.array(fc.integer({ min: 500, max: 5000 }), { minLength: 40, maxLength: 40 });
  const courses = fc.sample(fc.tuple(failovers, answers), { seed: 1, numRuns: 100, unbiased: true });
  const wrong = courses.filter(([gaps, delays]) => {
    const course: Course = (member, atMs) => {
      let [changes, changesAtMs] = [0, 3000];
      for (const gapMs of gaps) if ((changesAtMs += gapMs) <= atMs) changes += 1;
      return member === (changes % 2 === 0 ? "a" : "b") ? "MASTER" : "BACKUP";
    };
    const states = statesIn(verdictsOf(course, delays));
    return states.has("split_brain") || states.has("no_master");
  });
  expect(wrong.length).toBeLessThan(2);
});

test("after such failovers a split brain is proven by the third poll after it was seen", () => {
  fc.assert(
    fc.property(answers, fc.integer({ min: 8000, max: 14_000 }), (delays, splitsAtMs) => {
      const course: Course = (member, atMs) => {
        const isAway = Math.floor(atMs / 1500) % 2 === 1;
        return atMs >= splitsAtMs || member === (isAway ? "b" : "a") ? "MASTER" : "BACKUP";
      };
      const verdicts = verdictsOf(course, delays);
      const first = verdicts.findIndex(({ atMs, state }) => atMs >= splitsAtMs && state === "split_brain");
      expect(verdicts[first]?.atMs).toBeLessThan(splitsAtMs + 3 * INTERVAL_MS + 2 * MAX_ANSWER_MS);
      expect(new Set(verdicts.slice(first).map(({ state }) => state))).toEqual(new Set(["split_brain"]));
    }),
    RUNS,
  );
});
