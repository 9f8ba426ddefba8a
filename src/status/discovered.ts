import { isDeepStrictEqual } from "node:util";
import type { ApplianceSnapshot, ClusterSnapshot } from "../fleet/snapshot.ts";
import { listensOn } from "../fleet/known-websites.ts";
import { groupBy } from "../support/group-by.ts";
import type { ClusterVerdict, DiscoveredVerdict, DiscoveredWebsite } from "./verdict.ts";
import { judgeBackends } from "./verdicts/backends.ts";
import { DIFFERENCES, differencesIn, type DifferenceKind } from "./verdicts/differences.ts";
import { isOwnKey, keyOf, mastersIn, namesOf } from "./websites.ts";

/** The same object as before while nothing in it has changed; `undefined` where no websites are discovered. */
export function discoveredVerdict(
  { facts, groups, websites: tested }: Pick<ClusterVerdict, "facts" | "groups" | "websites">,
  before: ClusterVerdict | undefined,
): DiscoveredVerdict | undefined {
  const { cluster, labels, appliances } = facts;
  if (appliances.every(({ discovery }) => discovery === undefined)) return undefined;
  // Most polls find nothing new; `tested` is another object whenever the groups are.
  if (before !== undefined && before.websites === tested && isFoundAsBefore(facts, before.facts))
    return before.discovered;
  const mastersFor = mastersIn({ facts, groups });
  const testsByKey = groupBy(tested.values(), ({ key }) => key);
  const names = namesOf(appliances);
  const byKey = groupBy(
    appliances.flatMap(({ found }) => found),
    (website) => keyOf(website) ?? "",
  );
  const areListsKnown = appliances.every(({ discovery }) => discovery?.list.state === "succeeded");
  const areCompared = areListsKnown && appliances.length > 1;
  // A member lacks a website only if all its websites are known.
  const complete = appliances.filter(({ discovery }) => discovery?.isComplete === true);
  const websites = [...byKey].map(([address, found]): DiscoveredWebsite => {
    const { websiteId, website } = names.get(address) ?? { websiteId: 0, website: address };
    const views = found.map(({ details, identity }) => {
      return { details, isMaster: mastersFor(listensOn(details)).has(identity.appliance) };
    });
    const isUp = testsByKey.get(address)?.every((test) => test.state === "up") === true;
    const masters = mastersFor(found.flatMap(({ details }) => listensOn(details)));
    const knowing = new Set(found.map(({ identity }) => identity.appliance));
    const isMasterSilent = appliances.some(
      ({ identity: { appliance }, discovery }) =>
        masters.has(appliance) && !knowing.has(appliance) && discovery?.known.has(address) === true,
    );
    const state = judgeBackends(views, { isUp, isMasterSilent });
    const lacking = complete
      .filter(({ discovery }) => !isOwnKey(address) && discovery?.known.has(address) !== true)
      .map(({ identity }) => identity.appliance);
    const differences = areCompared ? differencesIn(found, lacking) : [];
    return { websiteId, website, address, state, differences, found };
  });
  const isComplete = complete.length === appliances.length;
  const areDetailsKnown = appliances.every(
    ({ discovery }) => (discovery?.details?.state ?? "succeeded") === "succeeded",
  );
  const isFound = (kind: DifferenceKind): boolean =>
    websites.some(({ differences }) => differences.some((each) => each.kind === kind));
  // Nothing says that they agree while something is not known.
  const compared = DIFFERENCES.filter(
    (kind) => areCompared && (isFound(kind) || (kind === "missing" ? isComplete : areDetailsKnown)),
  );
  const now = { kind: "discovered", cluster, labels, websites, compared } as const;
  return before?.discovered?.labels === labels && isDeepStrictEqual(now, before.discovered)
    ? before.discovered
    : now;
}

function isFoundAsBefore(
  { appliances: now }: ClusterSnapshot,
  { appliances: before }: ClusterSnapshot,
): boolean {
  const isSame = ({ discovery, found }: ApplianceSnapshot, nth: number): boolean =>
    discovery === before[nth]?.discovery && found === before[nth]?.found;
  return now.length === before.length && now.every(isSame);
}
