import type { ApplianceConfig } from "../config/config.ts";
import { kept, memo, once } from "../../support/kept.ts";
import type { DiscoveryFacts, OperationFacts } from "./operation-facts.ts";
import type { ApplianceSnapshot, FoundWebsite, KnownWebsite, PollHealth } from "./snapshot.ts";

/** Returns the described websites by address. */
const describedIn = once(
  (websites: readonly KnownWebsite[]) =>
    new Map(websites.flatMap((each) => (each.address ? [[each.address, each] as const] : []))),
);

interface Facts extends Pick<ApplianceSnapshot, "identity" | "known"> {
  readonly config: ApplianceConfig;
  readonly discoveryFacts: DiscoveryFacts | undefined;
}

type Discovered = Pick<ApplianceSnapshot, "discovery" | "inventory">;

const UNKNOWN = {
  found: [],
  byAddress: undefined,
  isListed: false,
  isComplete: false,
  areDetailsKnown: false,
  excluded: [],
  beyondLimit: [],
} as const;

/** Returns the results of the polls that discover websites, and what is known now of the websites that an appliance lists. */
export const discovered = memo((facts: Facts, before: Discovered | undefined): Discovered => {
  const { identity, config, discoveryFacts, known: websites } = facts;
  if (discoveryFacts === undefined) return { discovery: undefined, inventory: { identity, ...UNKNOWN } };
  const { list, details, first = [] } = discoveryFacts;
  const listed = list.found;
  const byAddress = describedIn(websites);
  const joint = jointHealth(Array.from(details.values(), ({ health }) => health));
  const isExcluded = (id: number): boolean => config.discovery?.exclude.includes(id) === true;
  const others = listed?.ids.filter((id) => !details.has(id)) ?? [];
  const beyondLimit = others.filter(
    (id) => !isExcluded(id) && !config.websites.some((website) => website.id === id),
  );
  const isFound = (website: KnownWebsite): website is FoundWebsite =>
    details.get(website.websiteId)?.found !== undefined;
  const found = websites.filter(isFound);
  const isPolled = [list, ...details.values()].every(wasPolled);
  const isNoneFailing = (joint?.state ?? "succeeded") === "succeeded";
  const isReadable = listed?.invalid.length === 0;
  return {
    discovery: {
      kind: "discovery",
      identity,
      list: list.health,
      details: joint,
      hadList: list.seen !== undefined,
      hadDetails: [...details.values()].some(({ seen }) => seen !== undefined),
      beyondLimit: beyondLimit.length,
      backendsLeftOut: found.reduce((sum, { details: { backends } }) => sum + (backends?.leftOut ?? 0), 0),
      isPolled,
      isFirstPolled: [list, ...Array.from(first, (id) => details.get(id) ?? list)].every(wasPolled),
    },
    inventory: kept(before?.inventory, {
      identity,
      found,
      byAddress,
      isListed: listed !== undefined,
      // A website of an unknown id or address may be any website, and so may one whose details are not known now.
      isComplete: isReadable && listed.ids.length === byAddress.size && isNoneFailing,
      areDetailsKnown: isReadable && isPolled && isNoneFailing,
      excluded: others.filter(isExcluded),
      beyondLimit,
    }),
  };
});

function wasPolled({ health: { state } }: OperationFacts<unknown>): boolean {
  return state !== "pending";
}

/**
 * Returns the joint result of the latest polls of the details; `undefined` if there are none. A failure of one poll is a failure; a website
 * that was not polled yet changes nothing.
 */
function jointHealth(all: readonly PollHealth[]): PollHealth | undefined {
  const failures = all.filter(({ state }) => state === "failed");
  // A website without details may be gone.
  const failed = failures.find(({ failure }) => failure?.isGone !== true) ?? failures[0];
  const worst = failed ?? all.find(({ state }) => state === "succeeded") ?? all[0];
  if (worst === undefined) return undefined;
  const successes = all.flatMap(({ lastSuccessAtMs }) => lastSuccessAtMs ?? []);
  const isAbsent = all.every(({ failure }) => failure?.isGone === true);
  return {
    ...worst,
    failure: isAbsent && worst.failure ? { ...worst.failure, reason: "unsupported" } : worst.failure,
    lastSuccessAtMs: successes.length > 0 ? Math.min(...successes) : undefined,
  };
}
