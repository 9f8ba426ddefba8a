import { setTimeout } from "node:timers/promises";
import { readLines, type TimeRange } from "./day-files.ts";
import { createNews } from "./news.ts";
import { atOf, type JournalRecord } from "./record.ts";

/** The time of each part of the work. The pause after a part is as long as the part. */
const SLICE_MS = 10;

/**
 * Calls back for each record with news of a journal in a range of time, oldest first, and also for those earlier on its first day. Takes at
 * most half of the event loop, so that polls go on.
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
