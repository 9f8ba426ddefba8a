import { setTimeout } from "node:timers/promises";
import { readLines, type TimeRange } from "./day-files.ts";
import { createNews } from "./news.ts";
import { atOf, type JournalRecord } from "./record.ts";

/** Each part of the work takes so long, and the pause behind it as long as it took. */
const SLICE_MS = 10;

/**
 * Calls back for each record of a journal in a range of time that says something new, oldest first, and for those of its first day
 * before. Takes at most half of the event loop: polls go on.
 */
export async function readPast(
  folder: string,
  range: TimeRange,
  onRecord: (record: JournalRecord) => void,
  onDamaged: (path: string, error: unknown) => void,
): Promise<void> {
  const newsIn = createNews();
  const end = new Date(range.toMs).toISOString();
  let beganMs = performance.now();
  for await (const lines of readLines(folder, range, onDamaged)) {
    for (const line of lines) {
      const record = atOf(line) < end ? newsIn(line) : undefined;
      if (record !== undefined) onRecord(record);
    }
    const tookMs = performance.now() - beganMs;
    if (tookMs < SLICE_MS) continue;
    await setTimeout(tookMs, undefined, { ref: false });
    beganMs = performance.now();
  }
}
