import type { FleetChange } from "../fleet/changes.ts";
import type { ApplianceSnapshot } from "../fleet/snapshot.ts";
import type { Operation } from "../api/operation.ts";
import type { Observation } from "../polling/observation.ts";
import type { ConfirmingPolls } from "../polling/runner.ts";
import type { GroupVerdict, VerdictPair } from "../judge/verdict.ts";

const AGAIN_AFTER_MS = 1000;
const TEST_AFTER_MS = 5000;
/** After this time the members of a cluster have synchronized a change. */
const SECOND_LOOK_AFTER_MS = 60_000;

const again = (
  operation: Operation,
  appliances: readonly string[],
  afterMs = AGAIN_AFTER_MS,
): ConfirmingPolls => {
  return { operation, appliances, occasion: "confirming", afterMs };
};

const secondLook = (polls: ConfirmingPolls): ConfirmingPolls => {
  return { ...polls, occasion: "second_look", afterMs: SECOND_LOOK_AFTER_MS };
};

/**
 * Returns the polls that an observation requires, because another answer has to confirm it. After a poll out of turn these are only second
 * looks, since members may be changed again just then.
 */
export function confirmingPolls(
  judged: VerdictPair,
  observation: Observation,
  changes: readonly FleetChange[],
): readonly ConfirmingPolls[] {
  const { isOutOfTurn, kind } = observation;
  if (kind === "vrrp") return isOutOfTurn ? [] : listsAgain(judged);
  if (kind === "website_test") return isOutOfTurn ? [] : testAgain(judged, observation);
  const { appliances } = judged.now.facts;
  // The websites of an appliance that stands alone are compared with no others.
  if (appliances.length < 2) return [];
  const called = changes.flatMap((change) => {
    if (change.kind === "website_list_changed") return [websiteListsAgain(appliances)];
    return change.kind === "website_changed" ? detailsAgain(appliances, observation.appliance, change) : [];
  });
  return isOutOfTurn ? called.filter(({ occasion }) => occasion === "second_look") : called;
}

function websiteListsAgain(appliances: readonly ApplianceSnapshot[]): ConfirmingPolls {
  const names = appliances.map(({ identity }) => identity.appliance);
  return secondLook(again({ kind: "website_list" }, names));
}

/**
 * Returns polls of details. A website that was changed at one appliance is likely to be changed soon at the others too, if it was not
 * already. The second look is at all of them, since answers from different times may differ although the members agree.
 */
function detailsAgain(
  appliances: readonly ApplianceSnapshot[],
  at: string,
  { websiteId, address }: FleetChange & { kind: "website_changed" },
): readonly ConfirmingPolls[] {
  const others = appliances.flatMap(({ identity, inventory }) => {
    const known = identity.appliance === at ? undefined : inventory.byAddress?.get(address);
    if (known === undefined) return [];
    return [again({ kind: "website_details", websiteId: known.websiteId }, [identity.appliance])];
  });
  const own = again({ kind: "website_details", websiteId }, [at]);
  return [...others, ...[own, ...others].map(secondLook)];
}

/** Returns polls of the lists of all members that answer, after a contradiction in a group. */
function listsAgain({ before, now }: VerdictPair): readonly ConfirmingPolls[] {
  const isContradiction = ({ facts, state }: GroupVerdict): boolean =>
    state === "changing" ||
    ((state === "split_brain" || state === "no_master") && before?.groups.get(facts.key)?.state !== state);
  if (![...now.groups.values()].some(isContradiction)) return [];
  const appliances = [...now.appliances].flatMap(([name, { state }]) => (state === "up" ? [name] : []));
  return [again({ kind: "vrrp" }, appliances)];
}

/**
 * Returns another test by the same appliance for each website that turns down or unknown. Its details are polled before that test, since
 * the website may have been deleted or changed.
 */
function testAgain(
  { now }: VerdictPair,
  { appliance, websiteId, durationSeconds }: Observation & { kind: "website_test" },
): readonly ConfirmingPolls[] {
  const website = now.facts.appliances
    .find(({ identity }) => identity.appliance === appliance)
    ?.websites.find((one) => one.websiteId === websiteId);
  if (website === undefined || durationSeconds === undefined) return [];
  // The result of the test does not count yet.
  if ((website.results ?? []).every(({ latest, result }) => latest === result)) return [];
  const test = again({ kind: "website_test", websiteId }, [appliance], TEST_AFTER_MS);
  const details = again({ kind: "website_details", websiteId }, [appliance]);
  return website.address === undefined ? [test] : [details, test];
}
