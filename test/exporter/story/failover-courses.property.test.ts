import { afterAll, expect, test } from "vitest";
import type { FailureReason } from "../../../src/exporter/api/failure.ts";
import type { Observation } from "../../../src/exporter/polling/observation.ts";
import { createPast } from "../../../src/exporter/story/past.ts";
import type { IncidentDocument } from "../../../src/exporter/document/schema.ts";
import { CAUSES, type Cause } from "../../../src/exporter/judge/states.ts";
import { groupBy } from "../../../src/support/group-by.ts";
import { applianceOf, failed, interfaceOf, listOf, seen, WALL_MS } from "../../support/observations.ts";
import { judgedFleet } from "../judge/support.ts";
import {
  masterSpans,
  momentAt,
  momentsIn,
  simulated,
  type Condition,
  type Event,
  type History,
  type Member,
} from "./vrrp-simulation.ts";

/** Runs of each course at each interval. With `FAILOVER_COURSES=1000` there are so many, and the table of causes is printed. */
const RUNS = Number(process.env["FAILOVER_COURSES"] ?? 5);
const SETTLES_MS = 30_000;

/** Returns a number between two ones. */
type Random = (from: number, to: number) => number;

interface Course {
  readonly name: string;
  /** Of each group, what happens and to whom; the first member is its master. */
  readonly groups: readonly { readonly members: readonly Member[]; readonly events: readonly Event[] }[];
  readonly failovers: readonly Expected[];
}

interface Expected {
  readonly from: string;
  readonly to: string;
  /** Those that are true of it. */
  readonly causes: readonly Cause[];
  /** The share of runs that name the first one. */
  readonly share?: readonly [everySecond: number, everyFiveSeconds: number];
  readonly count?: number;
  readonly isPartial?: boolean;
  /** Not if a split brain was seen, which it ended. */
  readonly endsSplit?: boolean;
  /** The places of its groups. */
  readonly groups?: readonly number[];
}

const A: Member = { name: "a", priority: 110, preemptDelayMs: 0 };
const B: Member = { name: "b", priority: 100, preemptDelayMs: 0 };
const C: Member = { name: "c", priority: 90, preemptDelayMs: 0 };
const LAZY: Member = { ...A, preemptDelayMs: Number.POSITIVE_INFINITY };
const LATER: Member = { ...A, preemptDelayMs: 15_000 };
const MUCH_LATER: Member = { ...A, preemptDelayMs: 60_000 };

const away = (...causes: readonly Cause[]): Expected => ({ from: "a", to: "b", causes });
const back = (...causes: readonly Cause[]): Expected => ({ from: "b", to: "a", causes });

function pair(name: string, events: readonly Event[], failovers: readonly Expected[], first = A): Course {
  const group = { members: [first, B], events };
  return { name, groups: [group, group], failovers };
}

/** The courses that begin at an instant; another member is away for `lastsMs`. */
function coursesAt(t: number, random: Random): readonly Course[] {
  const over = t + random(15_000, 50_000);
  const there = (to: Condition | number, returns: Condition | number = "well"): readonly Event[] => [
    [t, "a", to],
    [over, "a", returns],
  ];
  const some = random(0, 1) === 0 ? "a" : "b";
  const swing = random(12_000, 20_000);
  const swings = [0, 1, 2, 3, 4, 5].map((nth): Event => [t + nth * swing, "a", nth % 2 === 0 ? 60 : 110]);
  const three = [A, B, C];
  const stops = t + random(500, 4000);
  return [
    pair("killed", [[t, "a", "dead"]], [away("silent")]),
    pair("reset and back", there("dead"), [away("silent"), back("preempted")]),
    pair("cut off and back", there("cut"), [away("silent"), { ...back("preempted"), endsSplit: true }]),
    pair(
      "management network cut, VRRP is well",
      [
        [t, some, "unseen"],
        [over, some, "well"],
      ],
      [],
    ),
    pair("released by hand", [[t, "a", "released"]], [away("stepped_down")]),
    pair("released by hand and taken back", there("released"), [away("stepped_down"), back("stepped_down")]),
    pair(
      "clean reboot, preemption",
      [
        [t, "a", "released"],
        [stops, "a", "dead"],
        [over + 5000, "a", "well"],
      ],
      [away("silent", "stepped_down"), back("preempted")],
    ),
    pair(
      "reboot whose appliance answers with errors for 15 s",
      [
        [t, "a", "stopped"],
        [t + 15_000, "a", "dead"],
        [over + 5000, "a", "well"],
      ],
      [away("unknown", "stepped_down"), back("preempted")],
    ),
    pair("return with nopreempt", there("dead"), [away("silent")], LAZY),
    pair("return with preempt_delay", there("dead"), [away("silent"), back("preempted")], LATER),
    pair(
      "return with a long preempt_delay",
      [...there("dead"), [over + 60_000, "a", "well"]],
      [away("silent"), back("stepped_down")],
      MUCH_LATER,
    ),
    pair(
      "return with nopreempt, and the other daemon restarts",
      [...there("dead"), [over + 60_000, "b", "released"], [over + 60_000 + random(100, 900), "b", "well"]],
      [away("silent"), back("stepped_down")],
      LAZY,
    ),
    pair("priority lowered and raised", there(60, 110), [away("priority"), back("priority")]),
    pair(
      "priority that recovers at once",
      [
        [t, "a", 60],
        [t + random(3700, 4700), "a", 110],
      ],
      [{ ...away("priority", "stepped_down"), share: [0.95, 0.7] }],
      LAZY,
    ),
    pair("health script of the master", there(90, 110), [away("priority"), back("priority")]),
    pair(
      "health script of the backup",
      [
        [t, "b", 120],
        [over, "b", 100],
      ],
      [away("priority"), back("priority")],
    ),
    pair("FAULT", there("FAULT"), [away("fault"), back("preempted")]),
    pair(
      "FAULT for up to 2 s, nopreempt",
      [
        [t, "a", "FAULT"],
        [t + random(200, 2000), "a", "well"],
      ],
      [{ ...away("fault", "stepped_down"), share: [0.5, 0.1] }],
      LAZY,
    ),
    pair("interface absent", there("absent"), [away("fault"), back("preempted")]),
    pair(
      "split brain and its end",
      [
        [t, "b", "parted"],
        [over, "b", "well"],
      ],
      [],
    ),
    pair(
      "split brain that the backup wins",
      [
        [t, "b", "parted"],
        [t + 9000, "a", 60],
        [over, "b", "well"],
      ],
      [],
    ),
    pair("flapping", swings, [{ ...away("priority"), from: "b", to: "a", count: 6 }]),
    {
      name: "three members, the successor dies too",
      groups: [
        {
          members: three,
          events: [
            [t, "a", "dead"],
            [t + random(14_000, 25_000), "b", "dead"],
          ],
        },
      ],
      failovers: [away("silent"), { from: "b", to: "c", causes: ["silent"] }],
    },
    {
      name: "masters on two members, one killed",
      groups: [
        { members: [A, B], events: [[t, "a", "dead"]] },
        { members: [{ ...B, priority: 120 }, A], events: [[t, "a", "dead"]] },
      ],
      failovers: [{ ...away("silent"), groups: [0] }],
    },
    {
      name: "one of two groups released",
      groups: [
        { members: [A, B], events: [[t, "a", "released"]] },
        { members: [A, B], events: [] },
      ],
      failovers: [{ ...away("stepped_down"), groups: [0], isPartial: true }],
    },
    pair(
      "priority lowered, then killed",
      [
        [t, "a", 60],
        [t + random(1, 6000), "a", "dead"],
      ],
      [away("silent", "priority")],
    ),
    pair(
      "FAULT, then killed",
      [
        [t, "a", "FAULT"],
        [t + random(1, 6000), "a", "dead"],
      ],
      [away("fault", "silent")],
    ),
    pair(
      "refused, and its priority lowered",
      [
        [t, "a", "refused"],
        [t + 6000, "a", 60],
      ],
      [away("unknown")],
    ),
    pair(
      "local failures, and its priority lowered",
      [
        [t, "a", "local"],
        [t + 6000, "a", 60],
      ],
      [away("unknown")],
    ),
    pair(
      "refused",
      [
        [t, some, "refused"],
        [over, some, "well"],
      ],
      [],
    ),
    pair(
      "local failures",
      [
        [t, some, "local"],
        [over, some, "well"],
      ],
      [],
    ),
    pair("slow answers", [], []),
  ];
}

/** A generator of numbers that are the same for each seed (mulberry32). */
function randomOf(seed: number): Random {
  let state = seed;
  return (from, to) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return from + (((mixed ^ (mixed >>> 14)) >>> 0) % (to - from + 1));
  };
}

interface Polling {
  readonly everyMs: number;
  readonly timeoutMs: number;
}
interface Poll extends Polling {
  readonly sentMs: number;
  readonly looksMs: number;
  readonly endsMs: number;
}

const FAILS: Partial<Record<Condition, FailureReason>> = {
  dead: "timeout",
  cut: "timeout",
  unseen: "timeout",
  stopped: "http_status",
  refused: "auth",
  local: "local",
};

/** The polls of a member, one after the other, from a random instant on. */
function pollsOf(history: History, name: string, polling: Polling, lastsMs: number, random: Random) {
  const polls: (Poll & { readonly name: string; readonly reason: FailureReason | undefined })[] = [];
  const slowestMs = random(10, polling.timeoutMs - 1);
  const refuses = random(0, 1) === 0;
  for (let sentMs = random(0, polling.everyMs); sentMs < lastsMs;) {
    const takesMs = random(2, slowestMs);
    const looksMs = sentMs + random(1, takesMs - 1);
    const [looked, ended] = [looksMs, sentMs + takesMs].map(
      (atMs) => momentAt(history, name, atMs)?.condition,
    );
    const failure = FAILS[looked ?? "dead"] ?? (ended === "dead" || ended === "cut" ? "timeout" : undefined);
    const reason = failure === "timeout" && looked === "dead" && refuses ? "connect" : failure;
    const endsMs = sentMs + (reason === "timeout" ? polling.timeoutMs : takesMs);
    polls.push({ ...polling, name, reason, sentMs, looksMs, endsMs });
    sentMs = Math.max(sentMs + polling.everyMs, endsMs);
  }
  return polls;
}

function observationOf(poll: ReturnType<typeof pollsOf>[number], histories: readonly History[]): Observation {
  const { name, reason, sentMs, looksMs, everyMs, timeoutMs } = poll;
  const given = { sentAtMs: sentMs, expiresAtMs: poll.endsMs + 2 * everyMs + timeoutMs };
  if (reason !== undefined) return failed.vrrp(name, reason, given);
  const interfaces = histories.flatMap((history, nth) => {
    const { state, priority } = momentAt(history, name, looksMs) ?? {};
    if (state === undefined || state === "absent") return [];
    const group = { name: `carp${nth}`, vhid: nth + 1, vip: `192.0.2.${nth + 1}` };
    return [interfaceOf({ ...group, state, priority, configuredRole: undefined })];
  });
  return seen.vrrp(name, listOf(interfaces), given);
}

interface Run {
  readonly histories: readonly History[];
  readonly incidents: readonly IncidentDocument[];
  readonly counts: Readonly<Record<Cause, number>> | undefined;
}

function runOf(course: Course, polling: Polling, random: Random): Run {
  const { groups } = course;
  const lastsMs =
    SETTLES_MS + Math.max(60_000, ...groups.flatMap(({ events }) => events.map(([atMs]) => atMs + 20_000)));
  const histories = groups.map(({ members, events }) => simulated(members, events, lastsMs));
  const names = [...new Set(groups.flatMap(({ members }) => members.map(({ name }) => name)))].toSorted();
  const polls = names.flatMap((name) => pollsOf(histories[0] ?? new Map(), name, polling, lastsMs, random));
  const take = judgedFleet(names.map((name) => applianceOf({ name, cluster: "ams" })));
  const past = createPast();
  const counts = polls
    .toSorted((one, other) => one.endsMs - other.endsMs)
    .map((poll) => {
      const { before, now } = take(observationOf(poll, histories), poll.endsMs).judged;
      if (now.incidents !== before?.incidents) past.add(now.incidents.news);
      return now.incidents.failovers;
    });
  return { histories, incidents: past.list().toReversed(), counts: counts.at(-1) };
}

/** Whether what an appliance is said to have said was so when it was asked. */
function isTrue(
  { appliance, said, at }: { readonly appliance: string; readonly said: string; readonly at: string },
  histories: readonly History[],
  { timeoutMs }: Polling,
): boolean {
  const atMs = Date.parse(at) - WALL_MS;
  return histories.some((history) => {
    const moments = momentsIn(history, appliance, atMs - timeoutMs, atMs);
    const before = momentsIn(history, appliance, 0, atMs);
    const [, from, to] = /^changed its priority from (\d+) to (\d+)$/.exec(said) ?? [];
    if (from !== undefined)
      return (
        moments.some(({ priority }) => priority === Number(to)) &&
        before.some(({ priority }) => priority === Number(from))
      );
    const [, mine, others, other = ""] =
      /^reported the priority (\d+), above (\d+) of (\w+)$/.exec(said) ?? [];
    if (mine !== undefined)
      return (
        moments.some(({ priority }) => priority === Number(mine)) &&
        momentAt(history, other, atMs)?.priority === Number(others)
      );
    if (said.startsWith("reported ")) return moments.some(({ state }) => said === `reported ${state}`);
    if (said === "no longer listed the address") return moments.some(({ state }) => state === "absent");
    const wasGone = (some: typeof moments) =>
      some.some(({ condition }) => ["dead", "cut", "unseen"].includes(condition));
    if (said === "answered again") return wasGone(before) && !moments.every((moment) => wasGone([moment]));
    return /^stopped answering \((?:timeout|connect)\)$/.test(said) && wasGone(moments);
  });
}

/** The longest time for which none of the groups had a master at the n-th takeover by `to`. */
function gapMs({ from, to, groups: places }: Expected, nth: number, histories: readonly History[]): number {
  const gaps = histories
    .filter((_, place) => places?.includes(place) ?? true)
    .map((history) => {
      const begins = masterSpans(history, to).filter(({ fromMs }) => fromMs > 0)[nth]?.fromMs ?? 0;
      const ends = masterSpans(history, from)
        .filter(({ fromMs }) => fromMs < begins)
        .map(({ untilMs }) => untilMs);
      return Math.max(0, begins - Math.max(...ends));
    });
  return Math.max(...gaps);
}

/** The cause that a failover is said to have; what is said wrongly of it else. */
function verdictOn(incident: IncidentDocument, expected: Expected, run: Run, polling: Polling): string {
  const { failover, summary, subjects } = incident;
  if (failover === undefined) return "none";
  const {
    cause,
    evidence,
    withoutMasterAtMostSeconds = 0,
    withoutMasterAboutSeconds: about,
    repeated,
    isPartial,
    from,
    to,
  } = failover;
  const { groups = run.histories.map((_, nth) => nth), count } = expected;
  const trueMs = gapMs(expected, (count ?? 2) / 2 - 1, run.histories);
  const wrong = [
    [from === expected.from && to === expected.to, `${from} to ${to}`],
    [subjects.join() === groups.map((nth) => `192.0.2.${nth + 1} (vhid ${nth + 1})`).join(), subjects.join()],
    [expected.causes.includes(cause), cause],
    [evidence.length > 0 === (cause !== "unknown"), "evidence"],
    ...evidence.map((each) => [isTrue(each, run.histories, polling), `${each.appliance} ${each.said}`]),
    [withoutMasterAtMostSeconds * 1000 >= trueMs, `${withoutMasterAtMostSeconds} s`],
    [
      about === undefined || Math.abs(about * 1000 - trueMs) <= polling.everyMs + polling.timeoutMs,
      `about ${about} s`,
    ],
    [isPartial === (expected.isPartial ?? false), "partial"],
    [repeated?.count === count, `${repeated?.count ?? 1} times`],
  ].flatMap(([isRight, what]) => (isRight === true ? [] : [what]));
  return wrong.length === 0 ? cause : `WRONG ${wrong.join(", ")}: ${summary}`;
}

function verdictsOn(course: Course, run: Run, polling: Polling): readonly string[] {
  const failovers = run.incidents.filter(({ kind }) => kind === "failover");
  const isSplit = run.incidents.some(({ kind }) => kind === "split_brain");
  const expected = course.failovers.filter(({ endsSplit = false }) => !isSplit || !endsSplit);
  const switches = failovers.reduce((sum, { failover }) => sum + (failover?.repeated?.count ?? 1), 0);
  const counted = CAUSES.reduce((sum, cause) => sum + (run.counts?.[cause] ?? 0), 0);
  if (failovers.length !== expected.length || counted !== switches)
    return [`WRONG ${counted} counted: ${failovers.map(({ summary }) => summary).join("; ")}`];
  return failovers.flatMap((incident, nth) => {
    const one = expected[nth];
    return one === undefined ? [] : [`${one.from} to ${one.to}: ${verdictOn(incident, one, run, polling)}`];
  });
}

/** What is said of one course in all runs: each finding with its share of them. */
function sharesOf(nth: number, place: number, polling: Polling): ReadonlyMap<string, number> {
  const said = Array.from({ length: RUNS }, (_, run) => {
    const random = randomOf(1000 * nth + 100_000 * run + place);
    const course = coursesAt(random(20_000, 25_000), random)[nth];
    return course === undefined
      ? ["WRONG name"]
      : verdictsOn(course, runOf(course, polling, random), polling);
  }).flat();
  const counts = groupBy(said.toSorted(), (each) => each);
  return new Map([...counts].map(([each, { length }]) => [each, length / RUNS]));
}

const POLLINGS: readonly Polling[] = [
  { everyMs: 1000, timeoutMs: 900 },
  { everyMs: 5000, timeoutMs: 4000 },
];
const COURSES = coursesAt(0, (from) => from);
const table: string[] = [];

test.each(COURSES.map((course, nth) => ({ ...course, nth })))(
  "nothing wrong is said of: $name",
  ({ name, nth, failovers }) => {
    const shares = POLLINGS.map((polling, place) => sharesOf(nth, place, polling));
    const said = shares.flatMap((each) => [...each.keys()]);
    expect(said.filter((each) => each.includes("WRONG"))).toEqual([]);
    const tooRare = failovers.flatMap(({ from, to, causes: [first], share = [0, 0] }) =>
      shares.flatMap((each, place) => {
        const named = each.get(`${from} to ${to}: ${first}`) ?? 0;
        return named < (share[place] ?? 0) ? [`${first} ${named}`] : [];
      }),
    );
    expect(tooRare).toEqual([]);
    const cells = shares.map((each) => {
      const parts = [...each].map(([what, share]) => `${what} ${Math.round(share * 1000) / 10} %`);
      return parts.length === 0 ? "no failover" : parts.join(", ");
    });
    table.push(`| ${name} | ${cells.join(" | ")} |`);
  },
);

afterAll(() => {
  if ("FAILOVER_COURSES" in process.env) process.stdout.write(`${table.join("\n")}\n`);
});
