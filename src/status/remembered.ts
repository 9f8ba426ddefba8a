import type { ClusterVerdict, ProtocolVerdict, WebsiteVerdict } from "./verdict.ts";

/**
 * The verdict with which a cluster is compared while not all of it was polled: of each subject what this run of the exporter has
 * judged (`latest`), and what an earlier one `remembered` of those that were not judged yet. It is no verdict to be shown.
 */
export function withRemembered(
  remembered: ClusterVerdict,
  latest: ClusterVerdict | undefined,
): ClusterVerdict {
  if (latest === undefined) return remembered;
  const { facts, appliances, groups, failovers } = latest;
  const isPending = facts.appliances.some(({ vrrp }) => vrrp.health.state === "pending");
  return {
    ...latest,
    // Another object: nothing follows from these facts yet.
    facts: { ...facts },
    state: latest.state ?? remembered.state,
    websiteBasis: {},
    appliances: filled(remembered.appliances, appliances),
    // A group is unknown without those of its members that were not polled.
    groups: isPending ? new Map([...groups, ...remembered.groups]) : filled(remembered.groups, groups),
    // What would be lost is not known before everything was polled.
    failovers: new Map([...failovers, ...remembered.failovers]),
    websites: new Map([
      ...remembered.websites,
      ...Array.from(latest.websites, ([key, website]): [string, WebsiteVerdict] => {
        const { states = [] } = remembered.websites.get(key) ?? {};
        return [key, { ...website, facts: {}, states: filledStates(states, website.states) }];
      }),
    ]),
  };
}

function filled<Of extends { readonly state: unknown }>(
  remembered: ReadonlyMap<string, Of>,
  latest: ReadonlyMap<string, Of>,
): ReadonlyMap<string, Of> {
  const judged = [...latest].filter(([key, { state }]) => state !== undefined || !remembered.has(key));
  return new Map([...remembered, ...judged]);
}

function filledStates(
  remembered: readonly ProtocolVerdict[],
  latest: readonly ProtocolVerdict[],
): readonly ProtocolVerdict[] {
  // A website is unknown before its master was asked.
  const judged = latest.filter(({ state }) => state !== undefined && state !== "unknown");
  const others = remembered.filter(({ protocol }) => judged.every((each) => each.protocol !== protocol));
  return [...judged, ...others];
}
