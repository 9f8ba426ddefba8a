import { coalesce } from "../support/coalesce.ts";
import { readSource, stateOf, type Source } from "./sources.ts";

export interface WatchDeps {
  /** The sources of the latest load, valid or not; a new list after each load. */
  readonly sources: () => readonly Source[];
  /** Called when sources have changed since the latest load. Must not reject. */
  readonly onChange: () => Promise<unknown>;
}

/**
 * Compares the sources with their state at the latest load, sequentially, so that a hanging file system blocks only one
 * thread. A change counts when two checks in a row find the same: before, a file may still be written. Repeats a load that
 * failed with a system error when the files are readable.
 */
export function createCheck({ sources, onChange }: WatchDeps): () => Promise<void> {
  let latest = "";
  return async () => {
    const loaded = sources();
    const states: Source["state"][] = [];
    // An unreadable file has not changed. A file that the load could not read has changed once it is readable.
    for (const source of loaded) states.push(stateOf(await readSource(source)) ?? source.state);
    // After a reload in the meantime, the findings are about old sources.
    const hasChanged = loaded === sources() && states.some((state, at) => state !== loaded[at]?.state);
    const found = hasChanged ? JSON.stringify(states) : "";
    const isSettled = hasChanged && found === latest;
    latest = found;
    if (isSettled) await onChange();
  };
}

/** Checks every so often, one check at a time, until the returned function is called. */
export function startWatch(deps: WatchDeps, everyMs: number): () => void {
  const check = coalesce(createCheck(deps));
  const timer = setInterval(() => void check(), everyMs);
  return () => clearInterval(timer);
}
