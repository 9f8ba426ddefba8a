/** Sums over the fleet. */
export interface Counters {
  readonly done: number;
  /** Begun more than a second after they were due. */
  readonly late: number;
  readonly skipped: Readonly<Record<string, number>>;
  readonly failures: Readonly<Record<string, number>>;
}

/** How many polls of each appliance's operations have ended. */
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

function sum(text: string, pattern: RegExp): number {
  return Array.from(text.matchAll(pattern), ([, value]) => Number(value)).reduce((a, b) => a + b, 0);
}

function byReason(text: string, family: string): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const [, reason = "", count] of text.matchAll(
    new RegExp(`^${family}\\{.*reason="([^"]*)".*\\} (\\d+)$`, "gm"),
  )) {
    sums[reason] = (sums[reason] ?? 0) + Number(count);
  }
  return sums;
}
