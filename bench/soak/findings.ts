import type { InstantCounts } from "./instants.ts";
import type { Counters, Counts } from "./scraped.ts";
import { slopeOf, type Slope } from "./slope.ts";

/** The share of the time in which the heap is ignored: pools fill, and V8 optimizes. */
const WARM_UP_SHARE = 0.5;
const MAX_BYTES_PER_HOUR = 1e6;

/** The count of one resource at three times. */
interface Held {
  readonly before: number;
  readonly most: number;
  /** The count once all appliances were disabled. */
  readonly after: number;
}

/** Resources of the process at one time, after garbage collection. */
export interface Look {
  readonly hours: number;
  readonly heapBytes: number;
  /** The part for compiled code: V8 keeps compiling rarely used code, and drops some. */
  readonly codeBytes: number;
  readonly descriptors: number;
  readonly timers: number;
}

/** The results of a soak. */
export interface Findings {
  readonly seconds: number;
  readonly scrapes: number;
  readonly reloads: number;
  /** The looks are evenly spaced, from the start to the end. */
  readonly looks: readonly Look[];
  readonly descriptors: Held;
  readonly timers: Held;
  readonly instants: InstantCounts;
  /** The counters from the start of the soak on. */
  readonly counters: Counters;
}

function afterWarmUp({ looks }: Findings): readonly Look[] {
  return looks.slice(Math.ceil(looks.length * WARM_UP_SHARE));
}

/** Returns the slope in bytes per hour after warm-up, controlled for the values of `beside`. */
function slopeAfterWarmUp(findings: Findings, part: Part, beside: readonly Part[] = []): Slope {
  const looks = afterWarmUp(findings);
  const hours = looks.map((look) => look.hours);
  return slopeOf(
    hours,
    looks.map(part),
    beside.map((other) => looks.map(other)),
  );
}

type Part = (look: Look) => number;

/**
 * Returns the slope that a leak would raise: without compiled code, and controlled for connections and polls in flight, which depend on the
 * load of the machine.
 */
function judgedSlope(findings: Findings): Slope {
  return slopeAfterWarmUp(findings, ({ heapBytes, codeBytes }) => heapBytes - codeBytes, [
    ({ descriptors }) => descriptors,
    ({ timers }) => timers,
  ]);
}

export function rowsOf(findings: Findings): readonly (readonly string[])[] {
  const { instants, counters } = findings;
  const looks = afterWarmUp(findings);
  const heapSlope = slopeAfterWarmUp(findings, ({ heapBytes }) => heapBytes);
  return [
    ["time", `${findings.seconds.toFixed(0)} s, of which ${100 * WARM_UP_SHARE} % warm-up of the heap`],
    ["scrapes, reloads", `${findings.scrapes}, ${findings.reloads}`],
    [
      "heap after warm-up, at the end, MB",
      `${megabytes(looks[0]?.heapBytes)}, ${megabytes(looks.at(-1)?.heapBytes)}`,
    ],
    ["heap slope, MB an hour", ofSlope(heapSlope)],
    ["without code, at equal load (judged)", ofSlope(judgedSlope(findings))],
    ["descriptors before, most, after", held(findings.descriptors)],
    ["timers before, most, after", held(findings.timers)],
    ["polls due", String(instants.due)],
    ["polls made an interval late", String(instants.late)],
    ["polls skipped", String(instants.skipped)],
    ["polls lost", String(instants.lost)],
    ["polls done, in and out of turn", String(counters.done)],
    ["polls begun more than a second late", String(counters.late)],
    ...byReason("skips that the exporter counted: ", counters.skipped),
    ...byReason("polls failed: ", counters.failures),
  ];
}

/** Returns why the soak fails; empty if it passes. */
export function problemsOf(findings: Findings): readonly string[] {
  const { estimate, margin } = judgedSlope(findings);
  const { descriptors, instants } = findings;
  return [
    ...(margin === Number.POSITIVE_INFINITY ? ["too few samples for the slope of the heap"] : []),
    ...(estimate - margin > MAX_BYTES_PER_HOUR ? ["the heap grows"] : []),
    ...(descriptors.after > descriptors.before ? ["descriptors are kept"] : []),
    ...(instants.lost > 0 ? ["polls were lost"] : []),
    ...(instants.due === 0 ? ["no poll was judged: the time is too short"] : []),
  ];
}

function held({ before, most, after }: Held): string {
  return `${before}, ${most}, ${after}`;
}

function byReason(prefix: string, counts: Counts): readonly (readonly string[])[] {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => [prefix + reason, String(count)]);
}

function ofSlope({ estimate, margin }: Slope): string {
  return `${megabytes(estimate)} ± ${megabytes(margin)}`;
}

export function megabytes(bytes = Number.NaN): string {
  return (bytes / 1e6).toFixed(2);
}
