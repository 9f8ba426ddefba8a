import type { FleetChange } from "../fleet/changes.ts";
import type { Observation } from "../polling/observation.ts";
import type { ConfirmingPolls } from "../polling/runner.ts";
import type { GroupVerdict, Judged } from "./verdict.ts";

const LISTS_AFTER_MS = 1000;
const WEBSITE_AFTER_MS = 5000;

/** The polls that an observation calls for, because another answer has to confirm it; `undefined`: none. */
export function confirmingPolls(
  judged: Judged,
  observation: Observation,
  changes: readonly FleetChange[],
): ConfirmingPolls | undefined {
  switch (observation.kind) {
    case "vrrp":
      return listsAgain(judged);
    case "website_test":
      return testAgain(judged, observation);
    case "website_details":
      return websitesAgain(observation, changes);
    case "website_list":
      return undefined;
    default:
      return observation satisfies never;
  }
}

/** A website without details may have been deleted: its appliance's websites are listed again. */
function websitesAgain(
  { appliance }: Observation,
  changes: readonly FleetChange[],
): ConfirmingPolls | undefined {
  if (!changes.some(({ kind }) => kind === "website_gone")) return undefined;
  return { appliances: [appliance], operation: { kind: "website_list" }, afterMs: LISTS_AFTER_MS };
}

/** A contradiction in a group has the lists of all members that answer polled again. */
function listsAgain({ before, now }: Judged): ConfirmingPolls | undefined {
  if (before === now) return undefined;
  const isContradiction = ({ facts, state }: GroupVerdict): boolean =>
    state === "changing" ||
    ((state === "split_brain" || state === "no_master") && before?.groups.get(facts.key)?.state !== state);
  if (![...now.groups.values()].some(isContradiction)) return undefined;
  const answering = [...now.appliances].filter(([, { state }]) => state === "up");
  return {
    appliances: answering.map(([name]) => name),
    operation: { kind: "vrrp" },
    afterMs: LISTS_AFTER_MS,
  };
}

/** A website that turns down or unknown is tested again by the same appliance. */
function testAgain(
  { now }: Judged,
  { appliance, websiteId, durationSeconds }: Observation & { kind: "website_test" },
): ConfirmingPolls | undefined {
  const website = now.facts.appliances
    .find(({ identity }) => identity.appliance === appliance)
    ?.websites.find((one) => one.websiteId === websiteId);
  if (website?.isUnconfirmed !== true || durationSeconds === undefined) return undefined;
  const operation = { kind: "website_test", websiteId } as const;
  return { appliances: [appliance], operation, afterMs: WEBSITE_AFTER_MS };
}
