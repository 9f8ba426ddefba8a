import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { MaintenanceWindow } from "../../../src/exporter/maintenance/window.ts";
import { ABOUT_APPLIANCES } from "../../../src/exporter/judge/alerts.ts";
import { lastingProblems } from "../../../src/exporter/judge/problems.ts";
import type { Problem } from "../../../src/exporter/judge/problem.ts";
import {
  PROBLEM_OF,
  PROBLEMS,
  type ProblemFacts,
  type ProblemKind,
} from "../../../src/exporter/judge/states.ts";
import type { ClusterVerdict } from "../../../src/exporter/judge/verdict.ts";
import { fleetOf, MEMBER_A, MEMBER_B, MEMBER_C, pollsOf } from "../fleet/support.ts";
import { windowOf } from "../maintenance/support.ts";
import { WALL_MS, websiteOf } from "../../support/observations.ts";
import { createJudge, type Told } from "./support.ts";

const ALL = [MEMBER_A, MEMBER_B, MEMBER_C].map((member) => ({
  ...member,
  websites: [websiteOf({ id: 2, name: "shop" })],
}));

interface Poll {
  readonly member: number;
  readonly says: string;
  readonly seconds: number;
}
interface Course {
  readonly size: number;
  readonly polls: readonly Poll[];
}

const TESTS = ["200", "200", "503", "untested"];
const SAYS = ["MASTER/200", "BACKUP", "BACKUP", "silent", "refuses", "FAULT", "nothing", ...TESTS];

const course: fc.Arbitrary<Course> = fc.integer({ min: 2, max: 3 }).chain((size) =>
  fc.record({
    size: fc.constant(size),
    polls: fc.array(
      fc.record({
        member: fc.nat(size - 1),
        says: fc.constantFrom(...SAYS),
        seconds: fc.constantFrom(0, 1, 2, 5, 40, 150),
      }),
      { minLength: 1, maxLength: 24 },
    ),
  }),
);
const NAMES = ["a", "b", "c"];

/** The second at which a window begins, and how many seconds it lasts. */
const times = fc.tuple(fc.integer({ min: -5, max: 100 }), fc.integer({ min: 1, max: 400 }));

/** All is well first. */
const START: readonly Poll[] = ["MASTER/200", "BACKUP", "BACKUP"].flatMap((says, member) => [
  { member, says, seconds: 0 },
  { member, says: "200", seconds: 0 },
]);

interface Step {
  readonly second: number;
  readonly verdict: Told;
}

function stepsOf({ size, polls }: Course, windows: readonly MaintenanceWindow[]): readonly Step[] {
  const members = ALL.slice(0, size);
  const [fleet, judging] = [fleetOf(members), createJudge(windows)];
  let second = 1;
  return [...START.filter(({ member }) => member < size), ...polls].flatMap(({ member, says, seconds }) => {
    second += seconds;
    const [polled] = pollsOf(`${NAMES[member] ?? ""} ${says} ${second}`);
    if (polled === undefined) return [];
    const { changes, cluster } = fleet.record(polled.observation, polled.atMs);
    if (cluster === undefined) return [];
    const at = { wallMs: WALL_MS + polled.atMs, monotonicMs: polled.atMs };
    const { appliance, sinceMs } = polled.observation;
    return [{ second, verdict: judging.judge(cluster, at, { appliance, changes, sinceMs }).now }];
  });
}

function windowAt(
  scope: Parameters<typeof windowOf>[0],
  [from, lasts]: readonly [number, number],
  id = "patchnight",
) {
  const beginMs = WALL_MS + from * 1000;
  return windowOf(scope, { id, beginMs, endMs: beginMs + lasts * 1000 });
}

function alertOf({ kind }: Pick<Problem, "kind">): string | undefined {
  const told: ProblemFacts = PROBLEMS[kind];
  return "alert" in told ? told.alert : "becomes" in told ? told.becomes : undefined;
}

/**
 * The alerts about everything that is wrong, each with its appliance if it is about one; also what the problem of another subject leaves out,
 * such as the members of a dark cluster.
 */
function alertsIn(verdict: ClusterVerdict): ReadonlySet<string> {
  const { state, appliances, groups, websites, readiness } = verdict;
  const kinds: readonly (readonly [ProblemKind | undefined, string?])[] = [
    [state && PROBLEM_OF.cluster[state]],
    ...Array.from(appliances.values(), (each) => {
      return [each.state && PROBLEM_OF.appliance[each.state], each.identity.appliance] as const;
    }),
    ...Array.from(groups.values(), (each) => [each.problem] as const),
    ...[...websites.values()].flatMap(({ states }) =>
      states.map((each) => [each.state && PROBLEM_OF.website[each.state]] as const),
    ),
    ...Array.from(readiness.values(), (each) => {
      return [PROBLEM_OF.readiness[each.state], each.identity.appliance] as const;
    }),
  ];
  const hidden = kinds.flatMap(([kind, appliance]) => (kind === undefined ? [] : { kind, appliance }));
  return new Set([...lastingProblems(verdict), ...hidden].map(subjectOf));
}

/** The alert about a problem, with its appliance if the alert is about one. */
function subjectOf(problem: Pick<Problem, "kind" | "appliance">): string {
  const alert = alertOf(problem);
  const isOfOne = ABOUT_APPLIANCES.some((each) => each === alert);
  return `${alert} ${isOfOne ? problem.appliance : ""}`;
}

function keyOf({ kind, appliance, group, website }: Problem): string {
  return JSON.stringify([kind, appliance, group, website]);
}

const RUNS = Number(process.env["PLANNED_RUNS"] ?? 25);

test("a split brain is never planned, and what is planned is what the metrics mute", () => {
  const property = fc.property(course, times, times, fc.nat(2), (given, one, other, nth) => {
    const windows = [
      windowAt({ clusters: ["ams"] }, one),
      windowAt({ appliances: [NAMES[nth] ?? ""] }, other, "otherone"),
    ];
    const wrong = stepsOf(given, windows).flatMap(({ verdict }) => {
      const muted = verdict.planned?.muted ?? [];
      return lastingProblems(verdict).filter((problem) => {
        const { kind, appliance = "", isPlanned = false } = problem;
        const subjects = muted.flatMap((each) => (each.alert === alertOf(problem) ? each.appliance : []));
        const isMuted = subjects.some((each) => each === "" || each === appliance);
        return isPlanned !== isMuted || (isPlanned && kind === "split_brain");
      });
    });
    expect(wrong).toEqual([]);
  });
  fc.assert(property, { numRuns: RUNS });
});

test("windows change nothing but what is planned", () => {
  const property = fc.property(course, times, (given, time) => {
    const [without, within] = [[], [windowAt({ clusters: ["ams"] }, time)]].map((windows) =>
      stepsOf(given, windows).map(({ verdict }) => {
        const { muted: _muted, news: _news, ...incidents } = verdict.incidents;
        const [all, recent] = [incidents.all, incidents.recent].map((some) =>
          some.map((each) => ({ ...each, isPlanned: false })),
        );
        return { ...verdict, planned: undefined, incidents: { ...incidents, all, recent } };
      }),
    );
    expect(within).toEqual(without);
  });
  fc.assert(property, { numRuns: RUNS });
});

test("a window of the cluster plans everything but a split brain and what was wrong before, until its end", () => {
  const property = fc.property(course, times, (given, [from, lasts]) => {
    const steps = stepsOf(given, [windowAt({ clusters: ["ams"] }, [from, lasts])]);
    const before = steps.findLast(({ second }) => second < from);
    const earlier = before === undefined ? new Set() : alertsIn(before.verdict);
    let lasting = before === undefined ? [] : lastingProblems(before.verdict).map(keyOf);
    const wrong = steps.flatMap(({ second, verdict }) => {
      const isWithin = second >= from && second < from + lasts;
      const problems = lastingProblems(verdict);
      if (second >= from) lasting = problems.map(keyOf).filter((key) => lasting.includes(key));
      return problems.filter((problem) => {
        const mayCount = problem.kind === "split_brain" || earlier.has(subjectOf(problem));
        // What flapped in the window is remembered for five minutes, and so is that it was planned.
        const lastsOn = problem.kind === "flapping" && second >= from && second < from + lasts + 300;
        const mayBePlanned = (isWithin || lastsOn) && !lasting.includes(keyOf(problem));
        return problem.isPlanned === true ? !mayBePlanned : isWithin && !mayCount;
      });
    });
    expect(wrong).toEqual([]);
  });
  fc.assert(property, { numRuns: RUNS });
});

test("a window of a member plans nothing that would also be wrong if that member were a BACKUP that is well", () => {
  const property = fc.property(course, fc.nat(2), times, (given, nth, time) => {
    const place = nth % given.size;
    const member = NAMES[place] ?? "";
    const polls = given.polls.map((poll) => {
      const says = TESTS.includes(poll.says) ? "200" : "BACKUP";
      return poll.member === place ? { ...poll, says } : poll;
    });
    const others = stepsOf({ ...given, polls }, []);
    const wrong = stepsOf(given, [windowAt({ appliances: [member] }, time)]).flatMap(({ verdict }, step) => {
      const other = others[step];
      const anyway = new Set((other === undefined ? [] : lastingProblems(other.verdict)).map(keyOf));
      // That visitors would lose something if it fails is known to whoever works on it.
      const planned = lastingProblems(verdict).filter(
        ({ kind, appliance, isPlanned }) =>
          isPlanned === true && (kind !== "failover_not_ready" || appliance !== member),
      );
      return planned.filter((problem) => anyway.has(keyOf(problem)));
    });
    expect(wrong).toEqual([]);
  });
  fc.assert(property, { numRuns: RUNS });
});
