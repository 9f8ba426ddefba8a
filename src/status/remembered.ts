import { pendingIn } from "../fleet/snapshot.ts";
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

/** Returns the rest of `remembered` after a verdict, without everything that this run has judged. */
export function stillRemembered(remembered: ClusterVerdict, now: ClusterVerdict): ClusterVerdict {
  const websites = Array.from(remembered.websites, ([key, website]): [string, WebsiteVerdict] => {
    const { states = [] } = now.websites.get(key) ?? {};
    return [key, { ...website, states: lacking(website.states, states.filter(isJudged)) }];
  });
  return {
    ...remembered,
    appliances: unjudged(remembered.appliances, now.appliances),
    groups: arePolled(now.basis)
      ? unjudged(remembered.groups, now.groups)
      : unlike(remembered.groups, now.groups),
    // Nobody knows what a failover would cost before everything was polled.
    failovers:
      pendingIn(now.facts).length > 0 ? remembered.failovers : unjudged(remembered.failovers, now.failovers),
    websites: new Map(websites),
  };
}

function lacking(
  states: readonly ProtocolVerdict[],
  others: readonly ProtocolVerdict[],
): readonly ProtocolVerdict[] {
  return states.filter((each) => others.every(({ protocol }) => protocol !== each.protocol));
}

function unjudged<Of>(
  remembered: ReadonlyMap<string, Of>,
  now: ReadonlyMap<string, { readonly state: string | undefined }>,
): ReadonlyMap<string, Of> {
  return new Map([...remembered].filter(([key]) => !isJudged(now.get(key) ?? {})));
}

/** A website is unknown before its master was polled, and a group is changing before each of its masters was polled twice. */
export function isJudged({ state = "unknown" }: { readonly state?: string | undefined }): boolean {
  return state !== "unknown" && state !== "changing";
}

/** In these states, members that were not polled yet may be the backup, or the master. */
const UNDECIDED: ReadonlySet<GroupState> = new Set(["backup_lost", "backup_unknown", "unknown", "changing"]);

/**
 * Returns the remembered groups. While members were not polled, a group may be in its earlier state; after another state was seen, it no
 * longer lasts since then.
 */
function unlike(
  remembered: ClusterVerdict["groups"],
  now: ClusterVerdict["groups"],
): ClusterVerdict["groups"] {
  return new Map(
    Array.from(remembered, ([key, group]): [string, GroupVerdict] => {
      const { state = "unknown", master, trouble } = now.get(key) ?? group;
      const isOther = state !== group.state || master !== group.master;
      const sinceMs = isOther && !UNDECIDED.has(state) ? undefined : group.sinceMs;
      return [key, { ...group, trouble, sinceMs }];
    }),
  );
}
