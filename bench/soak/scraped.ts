/** Counts of polls, by reason. */
export type Counts = Readonly<Record<string, number>>;

/** Totals over the fleet. */
export interface Counters {
  readonly done: number;
  /** The number of polls that began more than a second after they were due. */
  readonly late: number;
  readonly skipped: Counts;
  readonly failures: Counts;
}

/** Returns the number of ended polls of each appliance's operations. */
export function pollsOf(text: string): readonly { readonly key: string; readonly polls: number }[] {
  return Array.from(
    text.matchAll(/^appliance_polls_total\{appliance="([^"]*)".*operation="([^"]*)".*\} (\d+)$/gm),
    ([, appliance, operation, polls]) => ({ key: `${appliance} ${operation}`, polls: Number(polls) }),
  );
}

export function countersOf(text: string): Counters {
  const started = sum(text, /^appliance_exporter_poll_lateness_seconds_count\{.*\} (\d+)$/gm);
  const inTime = sum(text, /^appliance_exporter_poll_lateness_seconds_bucket\{.*le="1".*\} (\d+)$/gm);
  return {
    done: pollsOf(text).reduce((total, { polls }) => total + polls, 0),
    late: started - inTime,
    skipped: byReason(text, "appliance_exporter_polls_skipped_total"),
    failures: byReason(text, "appliance_exporter_poll_failures_total"),
  };
}

/** Returns the difference of two sets of counters. */
export function since(before: Counters, now: Counters): Counters {
  return {
    done: now.done - before.done,
    late: now.late - before.late,
    skipped: difference(before.skipped, now.skipped),
    failures: difference(before.failures, now.failures),
  };
}

function difference(before: Counts, now: Counts): Counts {
  return Object.fromEntries(
    Object.entries(now).map(([reason, count]) => [reason, count - (before[reason] ?? 0)]),
  );
}

function sum(text: string, pattern: RegExp): number {
  return Array.from(text.matchAll(pattern), ([, value]) => Number(value)).reduce((a, b) => a + b, 0);
}

function byReason(text: string, family: string): Counts {
  const sums: Record<string, number> = {};
  for (const [, reason = "", count] of text.matchAll(
    new RegExp(`^${family}\\{.*reason="([^"]*)".*\\} (\\d+)$`, "gm"),
  )) {
    sums[reason] = (sums[reason] ?? 0) + Number(count);
  }
  return sums;
}
