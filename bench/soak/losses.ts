/**
 * Counts polls that were due and never made. `see` is told how many polls of something have ended so far; where the next
 * end comes later than `longestGapMs`, the instants in between were lost.
 */
export function createLossCounter(intervalMs: number, longestGapMs: number) {
  const last = new Map<string, { readonly polls: number; readonly atMs: number }>();
  let lost = 0;
  return {
    see: (key: string, polls: number, atMs: number): void => {
      const before = last.get(key);
      if (before !== undefined && before.polls === polls) return;
      if (before !== undefined && atMs - before.atMs > longestGapMs) {
        lost += Math.max(1, Math.round((atMs - before.atMs) / intervalMs) - (polls - before.polls));
      }
      last.set(key, { polls, atMs });
    },
    /** With those whose next end is overdue now. */
    lost: (nowMs: number): number =>
      lost + [...last.values()].filter(({ atMs }) => nowMs - atMs > longestGapMs).length,
  };
}
