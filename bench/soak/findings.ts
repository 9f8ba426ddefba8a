import type { InstantCounts } from "./instants.ts";
import type { Counters, Counts } from "./scraped.ts";
import { slopeOf, type Slope } from "./slope.ts";

/** The share of the time in which the heap is not judged: pools fill, and the runtime learns what objects look like. */
const WARM_UP_SHARE = 0.5;
const MAX_BYTES_PER_HOUR = 1e6;

/** What the process held at three times, of one kind. */
interface Held {
  readonly before: number;
  readonly most: number;
  /** Once all appliances were disabled. */
  readonly after: number;
}

/** What the process held at one time, after garbage collection. */
export interface Look {
  readonly hours: number;
  readonly heapBytes: number;
  /** Of these, what the runtime has compiled: it compiles rarely used code for long, and drops some again. */
  readonly codeBytes: number;
  readonly descriptors: number;
  readonly timers: number;
}

/** What one soak has seen. */
export interface Findings {
  readonly seconds: number;
  readonly scrapes: number;
  readonly reloads: number;
  /** Evenly spaced, from the start to the end. */
  readonly looks: readonly Look[];
  readonly descriptors: Held;
  readonly timers: Held;
  readonly instants: InstantCounts;
  /** Counted from the start of the soak on. */
  readonly counters: Counters;
}

function afterWarmUp({ looks }: Findings): readonly Look[] {
  return looks.slice(Math.ceil(looks.length * WARM_UP_SHARE));
}

/** In bytes an hour after warm-up, at equal values of what is `beside`. */
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
 * What a leak would raise: neither compiled code, nor what more connections and polls under way hold for a while because
 * the machine has more or less to do.
 */
function judgedSlope(findings: Findings): Slope {
  return slopeAfterWarmUp(findings, ({ heapBytes, codeBytes }) => heapBytes - codeBytes, [
    ({ descriptors }) => descriptors,
    ({ timers }) => timers,
  ]);
}

/** The findings as rows of two cells. */
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

/** Why the soak fails; nothing where it does not. */
export function problemsOf(findings: Findings): readonly string[] {
  const { estimate, margin } = judgedSlope(findings);
  const { descriptors, instants } = findings;
  return [
    ...(margin === Number.POSITIVE_INFINITY
      ? ["the slope of the heap cannot be told from so few looks"]
      : []),
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

/** To the hundredth. */
export function megabytes(bytes = Number.NaN): string {
  return (bytes / 1e6).toFixed(2);
}
