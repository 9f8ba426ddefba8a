import { rm } from "node:fs/promises";
import type { Clock } from "../../support/clock.ts";
import { messageOf } from "../../support/errors.ts";
import type { Logger } from "../../support/log.ts";
import { compressDay, dayFiles, dayOf, expired, pathOf, type Retention } from "./day-files.ts";

/** The days of a folder that are over. */
export interface OldDays {
  /** Removes the files beyond the limits of age and size, and compresses the others, once an hour. Never rejects. */
  tidy(nowMs: number): Promise<void>;
  /** Makes the next `tidy` do its work at once, since a day is over. */
  due(): void;
  /** Returns the bytes of the files, since they were tidied. */
  bytes(): number;
}

const EVERY_MS = 3_600_000;

export interface OldDaysDeps {
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly logger: Pick<Logger, "warn">;
}

export function createOldDays(path: string, retention: Retention, { clock, logger }: OldDaysDeps): OldDays {
  let totalBytes = 0;
  let tidiedMs = Number.NEGATIVE_INFINITY;
  let isTidying = false;

  function failed(at: string, error: unknown): void {
    const fields = { path: at, detail: messageOf(error) };
    logger.warn(fields, "old days of the journal cannot be compressed or removed");
  }

  async function tidyNow(nowMs: number): Promise<void> {
    const today = dayOf(nowMs);
    for (const file of expired(await dayFiles(path), nowMs, retention)) await rm(file.path);
    for (const { day, isCompressed } of await dayFiles(path))
      if (!isCompressed && day < today)
        await compressDay(path, day).catch((error: unknown) => failed(pathOf(path, day), error));
    const closed = (await dayFiles(path)).filter(({ day }) => day !== today);
    totalBytes = closed.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  return {
    tidy: async (nowMs) => {
      if (isTidying || clock.monotonicMs() - tidiedMs < EVERY_MS) return;
      isTidying = true;
      tidiedMs = clock.monotonicMs();
      await tidyNow(nowMs).catch((error: unknown) => failed(path, error));
      isTidying = false;
    },
    due: () => {
      tidiedMs = Number.NEGATIVE_INFINITY;
    },
    bytes: () => totalBytes,
  };
}
