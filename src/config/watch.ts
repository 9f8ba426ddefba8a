import { readState, type Source } from "./sources.ts";

/** A file that differs at each check is still being written; after so many checks it is loaded anyway. */
const MAX_CHANGING_CHECKS = 3;

export interface WatchDeps {
  /** The sources of the latest load, valid or not; a new list after each load. */
  readonly sources: () => readonly Source[];
  /** Called with the sources that have changed since the latest load. Must not reject. */
  readonly onChange: (sources: readonly Source[]) => Promise<unknown>;
}

/**
 * Compares the sources with their state at the latest load, sequentially, so that a hanging file system blocks only one
 * thread. Repeats a load that failed with a system error when the files are readable.
 */
export function createCheck({ sources, onChange }: WatchDeps): () => Promise<void> {
  let latest = "";
  let changingChecks = 0;
  return async () => {
    const loaded = sources();
    const changed: (readonly [source: Source, state: string])[] = [];
    for (const source of loaded) {
      const state = await readState(source);
      // An unreadable file has not changed. A file that the load could not read has changed once it is readable.
      if (state !== undefined && state !== source.state) changed.push([source, state]);
    }
    // After a reload in the meantime, the findings are about old sources.
    const difference = loaded === sources() && changed.length > 0 ? JSON.stringify(changed) : "";
    changingChecks = difference === "" ? 0 : changingChecks + 1;
    const isDue = difference !== "" && (difference === latest || changingChecks > MAX_CHANGING_CHECKS);
    latest = isDue ? "" : difference;
    if (!isDue) return;
    changingChecks = 0;
    await onChange(changed.map(([source]) => source));
  };
}

/** Checks `everyMs` after the end of each check, until the returned function is called. */
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
