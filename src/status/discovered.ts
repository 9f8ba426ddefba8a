import { isDeepStrictEqual } from "node:util";
import type { ClusterSnapshot, FoundWebsiteSnapshot } from "../fleet/snapshot.ts";
import { groupBy } from "../support/group-by.ts";
import { judgeBackends, type BackendState } from "./verdicts/backends.ts";
import { differencesOf, type Difference } from "./verdicts/differences.ts";

/** What is judged of the websites that the appliances of a cluster list. */
export interface DiscoveredVerdict extends Pick<ClusterSnapshot, "cluster" | "labels"> {
  readonly kind: "discovered";
  /** What the members do not agree on; `undefined` while the list of one is not known. */
  readonly differences: readonly Difference[] | undefined;
  readonly websites: readonly DiscoveredWebsite[];
}

/** A website that appliances list, joined by host and port. */
export interface DiscoveredWebsite {
  /** Its id and its name at the first member that has it. */
  readonly websiteId: number;
  readonly website: string;
  /** Host and port; where they are not known, its id and its appliance. */
  readonly address: string;
  /** Of the servers behind it; `undefined` while it is not known. */
  readonly state: BackendState | undefined;
  /** The website as its appliances describe it. */
  readonly found: readonly FoundWebsiteSnapshot[];
}

export interface DiscoveredContext {
  /** Whether an appliance is known to be MASTER for visitors of the website. */
  readonly isMaster: (website: FoundWebsiteSnapshot) => boolean;
  /** Whether tests find the website up. */
  readonly isUp: (website: FoundWebsiteSnapshot) => boolean;
}

/** The same object as before while nothing in it has changed; `undefined` where no websites are discovered. */
export function discoveredVerdict(
  { cluster, labels, appliances }: ClusterSnapshot,
  { isMaster, isUp }: DiscoveredContext,
  before: DiscoveredVerdict | undefined,
): DiscoveredVerdict | undefined {
  if (appliances.every(({ discovery }) => discovery === undefined)) return undefined;
  const byAddress = groupBy(
    appliances.flatMap(({ found }) => found),
    ({ address, identity, websiteId }) => address || `#${websiteId} at ${identity.appliance}`,
  );
  const websites = [...byAddress].flatMap(([address, found]): readonly DiscoveredWebsite[] => {
    const [first] = found;
    if (first === undefined) return [];
    const { websiteId, website } = first;
    const views = found.map((each) => ({ details: each.details, isMaster: isMaster(each) }));
    return [{ websiteId, website, address, state: judgeBackends(views, found.some(isUp)), found }];
  });
  const now = {
    kind: "discovered",
    cluster,
    labels,
    differences: differencesOf(appliances),
    websites,
  } as const;
  return before !== undefined && before.labels === labels && isDeepStrictEqual(now, before) ? before : now;
}
