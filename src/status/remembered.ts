import type { GroupState } from "./states.ts";
import {
  arePolled,
  type ClusterVerdict,
  type GroupVerdict,
  type ProtocolVerdict,
  type WebsiteVerdict,
} from "./verdict.ts";

/**
 * Returns the verdict with which a cluster is compared while it was not polled completely: the verdicts of this run (`latest`), and those
 * that are still `remembered` of an earlier one. This verdict must not be shown.
 */
export function withRemembered(
  remembered: ClusterVerdict,
  latest: ClusterVerdict | undefined,
): ClusterVerdict {
  if (latest === undefined) return remembered;
  const { facts, state, appliances, groups, failovers, websites } = latest;
  return {
    ...latest,
    // The list is a new object, so that groups are judged again.
    facts: { ...facts, groups: [...facts.groups] },
    state: state ?? remembered.state,
    appliances: new Map([...appliances, ...remembered.appliances]),
    groups: new Map([...groups, ...remembered.groups]),
    failovers: new Map([...failovers, ...remembered.failovers]),
    websites: new Map([
      ...remembered.websites,
      ...Array.from(websites, ([key, website]): [string, WebsiteVerdict] => {
        const { states = [] } = remembered.websites.get(key) ?? {};
        return [key, { ...website, facts: {}, states: [...lacking(website.states, states), ...states] }];
      }),
    ]),
  };
}

/** Whether polls since the start contradict each other, so that the earlier state of a group may continue. */
export function isContradictory({ groups }: ClusterVerdict): boolean {
  return [...groups.values()].some(({ state, sinceMs }) => state === "changing" && sinceMs === undefined);
}

/**
 * Returns the rest of `remembered` after a verdict, without everything that this run has judged. Once all members were polled, or could not
 * be for too long, a state that is not known is a verdict too: the earlier state did not last.
 */
export function stillRemembered(remembered: ClusterVerdict, now: ClusterVerdict): ClusterVerdict {
  const isPolled = arePolled(now.basis);
  // A website is unknown before its master was polled.
  const isJudged = ({ state }: ProtocolVerdict): boolean =>
    state !== undefined && (isPolled || state !== "unknown");
  const groups = isPolled ? undecided(remembered.groups, now.groups) : unlike(remembered.groups, now.groups);
  const websites = Array.from(remembered.websites, ([key, website]): [string, WebsiteVerdict] => {
    const { states = [] } = now.websites.get(key) ?? {};
    return [key, { ...website, states: lacking(website.states, states.filter(isJudged)) }];
  });
  return {
    ...remembered,
    appliances: without(remembered.appliances, (name) => now.appliances.get(name)?.state !== undefined),
    groups,
    // Nobody knows what a failover of a MASTER would cost before everything was polled.
    failovers: without(
      ofMasters(remembered.failovers, groups),
      (name) => isPolled && !now.failovers.has(name),
    ),
    websites: new Map(websites),
  };
}

/** Returns what a failover would cost: no longer known since when where nobody knows since when the appliance is MASTER. */
function ofMasters(
  failovers: ClusterVerdict["failovers"],
  groups: ClusterVerdict["groups"],
): ClusterVerdict["failovers"] {
  const undated = new Set([...groups.values()].map(({ master, sinceMs }) => sinceMs === undefined && master));
  return new Map(
    Array.from(failovers, ([name, failover]) => [
      name,
      undated.has(name) ? { ...failover, sinceMs: undefined } : failover,
    ]),
  );
}

function lacking(
  states: readonly ProtocolVerdict[],
  others: readonly ProtocolVerdict[],
): readonly ProtocolVerdict[] {
  return states.filter((each) => others.every(({ protocol }) => protocol !== each.protocol));
}

function without<Of>(
  all: ReadonlyMap<string, Of>,
  isOver: (key: string) => boolean,
): ReadonlyMap<string, Of> {
  return new Map([...all].filter(([key]) => !isOver(key)));
}

/**
 * Returns the remembered groups after all members were polled. A group is changing before each of its masters was polled twice. If no member
 * lists a group, its earlier master is still known, but no longer since when.
 */
function undecided(
  remembered: ClusterVerdict["groups"],
  now: ClusterVerdict["groups"],
): ClusterVerdict["groups"] {
  return new Map(
    [...remembered].flatMap(([key, group]): readonly [string, GroupVerdict][] => {
      const known = now.get(key);
      if (known === undefined) return [[key, { ...group, sinceMs: undefined }]];
      return known.state === "changing" ? [[key, group]] : [];
    }),
  );
}

/** In these states, members that were not polled yet may be the backup, or the master. */
const UNDECIDED: ReadonlySet<GroupState> = new Set(["backup_lost", "backup_unknown", "unknown", "changing"]);

/**
 * Returns the remembered groups. While members were not polled, a group may be in its earlier state; after another state or
 * another MASTER was seen, it no longer lasts since then.
 */
function unlike(
  remembered: ClusterVerdict["groups"],
  now: ClusterVerdict["groups"],
): ClusterVerdict["groups"] {
  return new Map(
    Array.from(remembered, ([key, group]): [string, GroupVerdict] => {
      const { state = "unknown", master, trouble } = now.get(key) ?? group;
      const isMoved = group.master !== undefined && master !== undefined && master !== group.master;
      const isOther = state !== group.state && !UNDECIDED.has(state);
      const sinceMs = isMoved || isOther ? undefined : group.sinceMs;
      return [key, { ...group, trouble, sinceMs }];
    }),
  );
}
