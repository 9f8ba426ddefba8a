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

export interface HeapLook {
  readonly hours: number;
  readonly heapBytes: number;
  /** Of these, what the runtime has compiled: it compiles rarely used code for long, and drops some again. */
  readonly codeBytes: number;
}

/** What one soak has seen. */
export interface Findings {
  readonly seconds: number;
  readonly scrapes: number;
  readonly reloads: number;
  readonly probes: { readonly made: number; readonly succeeded: number };
  /** After garbage collection, from the start to the end. */
  readonly heap: readonly HeapLook[];
  readonly descriptors: Held;
  readonly timers: Held;
  readonly instants: InstantCounts;
  /** Counted from the start of the soak on. */
  readonly counters: Counters;
}

function afterWarmUp({ heap }: Findings): readonly HeapLook[] {
  return heap.slice(Math.ceil(heap.length * WARM_UP_SHARE));
}

/** The slope of a part of the heap after warm-up, in bytes an hour. */
function slopeAfterWarmUp(findings: Findings, part: (look: HeapLook) => number): Slope {
  return slopeOf(afterWarmUp(findings).map((look) => [look.hours, part(look)]));
}

const data = ({ heapBytes, codeBytes }: HeapLook): number => heapBytes - codeBytes;

/** The findings as rows of two cells. */
export function rowsOf(findings: Findings): readonly (readonly string[])[] {
  const { instants, counters, probes } = findings;
  const judged = afterWarmUp(findings);
  const slope = (part: (look: HeapLook) => number): string => ofSlope(slopeAfterWarmUp(findings, part));
  return [
    ["time", `${findings.seconds.toFixed(0)} s, of which ${100 * WARM_UP_SHARE} % warm-up of the heap`],
    ["scrapes, reloads", `${findings.scrapes}, ${findings.reloads}`],
    ["probes made, succeeded", `${probes.made}, ${probes.succeeded}`],
    ["heap slope, MB an hour", slope(data)],
    ["slope of compiled code beside it", slope(({ codeBytes }) => codeBytes)],
    [
      "heap with code after warm-up, at the end, MB",
      `${megabytes(judged[0]?.heapBytes)}, ${megabytes(judged.at(-1)?.heapBytes)}`,
    ],
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
  const { estimate, margin } = slopeAfterWarmUp(findings, data);
  const { descriptors, instants } = findings;
  return [
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
