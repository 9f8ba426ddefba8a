import type { RateLimit } from "./web-config/web-config.ts";

/** Takes a token for a request; false where there is none left. */
export type TakeToken = () => boolean;

/** A bucket that holds `burst` tokens, is full at first, and gets one each interval. `nowMs`: monotonic. */
export function createTokenBucket({ intervalMs, burst }: RateLimit, nowMs: () => number): TakeToken {
  let tokens = burst;
  let filledAtMs = nowMs();
  return () => {
    const atMs = nowMs();
    tokens = Math.min(burst, tokens + (atMs - filledAtMs) / intervalMs);
    filledAtMs = atMs;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
