import type { Source } from "./sources.ts";

/** What differs at each check is still being written; after so many checks it is loaded as it is. */
const MAX_UNSETTLED_CHECKS = 3;

/** What the checks since the latest load have found; `difference` is empty if nothing differs. */
interface Finding {
  readonly difference: string;
  readonly checks: number;
}

export const NOTHING_FOUND: Finding = { difference: "", checks: 0 };

/** Whether to load now: two checks in a row found the same difference, or several found another one each time. */
export function afterCheck(
  before: Finding,
  difference: string,
): { readonly finding: Finding; readonly isDue: boolean } {
  if (difference === "") return { finding: NOTHING_FOUND, isDue: false };
  const isDue = difference === before.difference || before.checks >= MAX_UNSETTLED_CHECKS;
  return { finding: isDue ? NOTHING_FOUND : { difference, checks: before.checks + 1 }, isDue };
}

export interface WatchDeps {
  /** What the latest load depended on, whether it was valid or not; another list after each load. */
  readonly sources: () => readonly Source[];
  /** These differ from what the latest load has seen. Must not reject. */
  readonly onChange: (names: readonly string[]) => Promise<unknown>;
}

/**
 * Compares the content of the sources with what the latest load has seen, one after the other, so that a file system
 * that hangs holds one thread. A load that failed because of a system error is made again when the files can be read.
 */
export function createCheck({ sources, onChange }: WatchDeps): () => Promise<void> {
  let finding = NOTHING_FOUND;
  return async () => {
    const loaded = sources();
    const changed: (readonly [name: string, state: string])[] = [];
    for (const { name, state: before, read } of loaded) {
      const state = await read();
      // What cannot be read for a moment has not changed; what the load could not read has, once it can be read.
      if (state !== undefined && state !== before) changed.push([name, state]);
    }
    // After a reload in the meantime, what was found is about files that no longer count.
    const difference = loaded === sources() && changed.length > 0 ? JSON.stringify(changed) : "";
    const after = afterCheck(finding, difference);
    finding = after.finding;
    if (after.isDue) await onChange([...new Set(changed.map(([name]) => name))]);
  };
}

/** Checks again `everyMs` after the end of each check, until the function that it returns is called. */
export function startWatch(deps: WatchDeps, everyMs: number): () => void {
  const check = createCheck(deps);
  let isStopped = false;
  let timer = setTimeout(run, everyMs);

  function run(): void {
    void check().then(() => {
      if (!isStopped) timer = setTimeout(run, everyMs);
      return undefined;
    });
  }

  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
