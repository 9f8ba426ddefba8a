import type { Memory, Remembered } from "./memory.ts";
import { wasListed } from "./remembered-groups.ts";
import { subjectKeys, subjectsIn, type JudgedSubject } from "./subjects.ts";
import { arePolled, type ClusterVerdict, type GroupVerdict } from "./verdict.ts";

/**
 * Returns the rest of a memory after a verdict, without everything that this run has judged. Once all members were polled, or could not be
 * for too long, a state that is not known is a verdict too: the earlier state did not last.
 */
export function stillRemembered(memory: Memory, now: ClusterVerdict): Memory {
  const found = subjectsIn(now);
  const left = [...memory].flatMap(([key, earlier]): readonly (readonly [string, Remembered])[] => {
    const still = stillOf(earlier, found.get(key), now);
    return still === undefined ? [] : [[key, still]];
  });
  const undated = mastersWithoutDate(left.map(([, earlier]) => earlier));
  return new Map(left.map(([key, each]) => [key, undated.has(key) ? { ...each, sinceMs: undefined } : each]));
}

/** Returns what is still remembered of a subject, which was `found` as it is now; `undefined` if this run has judged it. */
function stillOf(
  earlier: Remembered,
  found: JudgedSubject | undefined,
  now: ClusterVerdict,
): Remembered | undefined {
  const { kind, servers } = earlier;
  const isPolled = arePolled(now.cachedInputs);
  switch (kind) {
    case "cluster":
    case "appliance":
      return found?.state === undefined ? earlier : undefined;
    case "website": {
      // A website is unknown before its master was polled.
      const isJudged = found?.state !== undefined && (isPolled || found.state !== "unknown");
      return isJudged ? undefined : earlier;
    }
    case "backends":
      return servers !== undefined && now.websites.get(servers.website)?.backends === undefined
        ? earlier
        : undefined;
    case "readiness":
      // Nobody knows what a failover of a MASTER would cost before everything was polled.
      return isPolled && found === undefined ? undefined : earlier;
    case "group": {
      const group = found?.kind === "group" ? found.verdict : undefined;
      return isPolled ? undecided(earlier, group) : unlike(earlier, group);
    }
    default:
      return kind satisfies never;
  }
}

/**
 * Returns a remembered group after all members were polled. A group is changing before each of its masters was polled twice. If no member
 * lists a group, its earlier master is still known, but no longer since when, unless nothing was known of it before.
 */
function undecided(earlier: Remembered, group: GroupVerdict | undefined): Remembered | undefined {
  const { state } = group ?? {};
  if (group === undefined || state === undefined || !wasListed(group.facts))
    return state === earlier.state ? earlier : { ...earlier, sinceMs: undefined };
  return state === "changing" ? earlier : undefined;
}

/** In these states, members that were not polled yet may be the backup, or the master. */
const UNDECIDED: ReadonlySet<string> = new Set(["backup_lost", "backup_unknown", "unknown", "changing"]);

/**
 * Returns a remembered group while members were not polled: it may be in its earlier state. After another state or another MASTER was seen,
 * it no longer lasts since then.
 */
function unlike(
  earlier: Remembered,
  found: Pick<Remembered, "state" | "master" | "trouble"> = earlier,
): Remembered {
  const { state = "unknown", master, trouble } = found;
  const isMoved = earlier.master !== undefined && master !== undefined && master !== earlier.master;
  const isOther = state !== earlier.state && !UNDECIDED.has(state);
  const sinceMs = isMoved || isOther ? undefined : earlier.sinceMs;
  return { ...earlier, trouble, sinceMs };
}

/** Returns the keys of the readiness of appliances of which nobody knows since when they are MASTER. */
function mastersWithoutDate(all: readonly Remembered[]): ReadonlySet<string> {
  const undated = all.flatMap(({ kind, master, sinceMs }) =>
    kind === "group" && sinceMs === undefined && master !== undefined ? [subjectKeys.readiness(master)] : [],
  );
  return new Set(undated);
}

/** Whether polls since the start contradict each other, so that the earlier state of a group may continue. */
export function isContradictory({ groups }: ClusterVerdict): boolean {
  return [...groups.values()].some(({ state, sinceMs }) => state === "changing" && sinceMs === undefined);
}
