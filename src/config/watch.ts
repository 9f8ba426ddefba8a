import { stampOf } from "./read-file.ts";
import type { Source, SourceState } from "./sources.ts";

/** Checks from one that trusts metadata to the next that reads everything. */
const THOROUGH_EVERY = 4;
/** What is different each time is still being written; after so many checks it is loaded as it is. */
const MAX_UNSETTLED_CHECKS = 3;

/** What the checks since the latest load have found; `difference` is empty where nothing differs. */
interface Finding {
  readonly difference: string;
  readonly checks: number;
}

export const NOTHING_FOUND: Finding = { difference: "", checks: 0 };

/**
 * Whether to load now: two checks one after the other found the same difference, so that nothing is half-written, or
 * several found another one each time.
 */
export function afterCheck(
  before: Finding,
  difference: string,
): { readonly finding: Finding; readonly isDue: boolean } {
  if (difference === "") return { finding: NOTHING_FOUND, isDue: false };
  const isDue = difference === before.difference || before.checks >= MAX_UNSETTLED_CHECKS;
  return { finding: isDue ? NOTHING_FOUND : { difference, checks: before.checks + 1 }, isDue };
}

export interface WatchDeps {
  /** What the latest load depended on, whether it was good or bad; another list after each load. */
  readonly sources: () => readonly Source[];
  /** These differ from what the latest load has seen. Must not reject. */
  readonly onChange: (names: readonly string[]) => Promise<unknown>;
  /** Unix time in milliseconds, which the file system's times are compared with. */
  readonly wallMs: () => number;
}

/**
 * Compares the content of the sources with what the latest load has seen, one after the other, so that a file system
 * that hangs holds one thread. A thorough check reads everything, another one only what its metadata call changed.
 * A load that failed because of a system error is made again when the files can be read.
 */
export function createCheck({
  sources,
  onChange,
  wallMs,
}: WatchDeps): (isThorough: boolean) => Promise<void> {
  const seen = new WeakMap<Source, { readonly stamp: string | undefined; readonly state: string }>();
  let finding = NOTHING_FOUND;

  async function stateNow(source: Source, isThorough: boolean): Promise<SourceState> {
    // Before the reading, so that a change in between is another stamp at the next check.
    const stamp = await stampOf(source.statPath, wallMs());
    const known = seen.get(source);
    if (!isThorough && known?.stamp !== undefined && known.stamp === stamp) return known.state;
    const state = await source.read();
    if (state !== undefined) seen.set(source, { stamp, state });
    return state;
  }

  return async (isThorough) => {
    const loaded = sources();
    const changed: (readonly [name: string, state: string])[] = [];
    for (const source of loaded) {
      const state = await stateNow(source, isThorough);
      // What cannot be read for a moment has not changed; what the load could not read has, once it can be read.
      if (state !== undefined && state !== source.state) changed.push([source.name, state]);
    }
    // Somebody else has loaded meanwhile; what was found is about what is gone.
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
  let count = 0;
  let timer = setTimeout(beat, everyMs);

  function beat(): void {
    count += 1;
    void check(count % THOROUGH_EVERY === 0).then(() => {
      if (!isStopped) timer = setTimeout(beat, everyMs);
      return undefined;
    });
  }

  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
