// oxlint-disable-next-line no-restricted-imports -- a queue of the event loop; nothing of the process itself
import { nextTick } from "node:process";
import { setImmediate as nextTurn } from "node:timers/promises";

/** Resolves when it is the turn of the caller `who`. */
export type Turns = (who: string) => Promise<void>;

/**
 * Lets callers continue one after another: one call of each caller, then the next call of each. When their work has taken `budgetMs`, the
 * others wait for the next turn of the event loop, so that timers are not late.
 */
export function createTurns(budgetMs: number, nowMs: () => number = () => performance.now()): Turns {
  const waiting = new Map<string, readonly (() => void)[]>();
  let isServing = false;

  async function serve(): Promise<void> {
    isServing = true;
    await nextTurn();
    let endMs = nowMs() + budgetMs;
    for (const [who, [go, ...others]] of waiting) {
      waiting.delete(who);
      if (others.length > 0) waiting.set(who, others);
      go?.();
      // The work of this caller ends when everything has run that does not wait for something else.
      await new Promise((resolve) => nextTick(resolve));
      if (nowMs() < endMs || waiting.size === 0) continue;
      await nextTurn();
      endMs = nowMs() + budgetMs;
    }
    isServing = false;
  }

  return (who) =>
    new Promise((resolve) => {
      waiting.set(who, [...(waiting.get(who) ?? []), resolve]);
      if (!isServing) void serve();
    });
}
