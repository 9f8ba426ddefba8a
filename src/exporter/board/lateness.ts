import type { OperationKind } from "../api/operation.ts";
import type { Clock, Instant } from "../../support/clock.ts";
import type { Late } from "../judge/own-problems.ts";
import type { PollEvents } from "../polling/observation.ts";

/** The events of this time count. */
const WITHIN_MS = 300_000;
/** Events are counted in spans of this length. */
const SPAN_MS = 15_000;
/** A poll of these operations is late if it starts so much after it was due. */
const LATE_AFTER_SECONDS: Partial<Readonly<Record<OperationKind, number>>> = { vrrp: 1, website_test: 10 };
/** An operation is late if more than this part of its polls is. */
const LATE_PART = 0.1;
/** Polls are late at once after a pause of the whole process; that is told once it has lasted this long. */
const TOLD_AFTER_MS = 60_000;
/** So many skipped polls are none that a slow appliance has caused now and then. */
const FEW_SKIPPED = 5;

export interface LatenessWatch extends Pick<PollEvents, "started" | "skipped"> {
  /** Returns what is late now, and has been for a minute; `undefined` if nothing is, and in the first five minutes. */
  late(): Late | undefined;
}

interface LateCounts {
  readonly polls: number;
  readonly late: number;
  readonly lateSeconds: number;
}
const NONE: LateCounts = { polls: 0, late: 0, lateSeconds: 0 };

interface LatenessSpan {
  readonly atMs: number;
  readonly counts: Map<OperationKind, LateCounts>;
  skipped: number;
}

export function createLatenessWatch(clock: Clock): LatenessWatch {
  const startedMs = clock.monotonicMs();
  let spans: readonly LatenessSpan[] = [];
  let since: Instant | undefined;

  /** Returns the present span. What is late is judged whenever one ends, so that its beginning is known. */
  function spanNow(): LatenessSpan {
    const nowMs = clock.monotonicMs();
    const last = spans.at(-1);
    if (last !== undefined && nowMs - last.atMs < SPAN_MS) return last;
    const next = { atMs: nowMs, counts: new Map<OperationKind, LateCounts>(), skipped: 0 };
    judgeNow(nowMs);
    spans = [...spans, next];
    return next;
  }

  function judgeNow(nowMs: number): Omit<Late, "sinceMs"> | undefined {
    spans = spans.filter(({ atMs }) => nowMs - atMs < WITHIN_MS);
    const found = nowMs - startedMs < WITHIN_MS ? undefined : lateIn(spans);
    since = found === undefined ? undefined : (since ?? { wallMs: clock.wallMs(), monotonicMs: nowMs });
    return found;
  }

  return {
    started: (kind, latenessSeconds) => {
      const { counts } = spanNow();
      const { polls, late, lateSeconds } = counts.get(kind) ?? NONE;
      const isLate = latenessSeconds > (LATE_AFTER_SECONDS[kind] ?? Number.POSITIVE_INFINITY);
      counts.set(kind, {
        polls: polls + 1,
        late: late + Number(isLate),
        lateSeconds: lateSeconds + (isLate ? latenessSeconds : 0),
      });
    },
    skipped: (_, reason, count) => {
      if (reason !== "backoff") spanNow().skipped += count;
    },
    late: () => {
      const nowMs = clock.monotonicMs();
      const found = judgeNow(nowMs);
      if (found === undefined || since === undefined) return undefined;
      return nowMs - since.monotonicMs < TOLD_AFTER_MS ? undefined : { ...found, sinceMs: since.wallMs };
    },
  };
}

function lateIn(spans: readonly LatenessSpan[]): Omit<Late, "sinceMs"> | undefined {
  for (const operation of ["vrrp", "website_test"] as const) {
    const all = spans.map(({ counts }) => counts.get(operation) ?? NONE);
    const [polls, late] = [sum(all.map((each) => each.polls)), sum(all.map((each) => each.late))];
    const meanSeconds = sum(all.map((each) => each.lateSeconds)) / late;
    if (late > polls * LATE_PART) return { operation, count: late, meanSeconds };
  }
  const skipped = sum(spans.map((each) => each.skipped));
  return skipped > FEW_SKIPPED ? { operation: undefined, count: skipped, meanSeconds: undefined } : undefined;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
