import type { ApplianceSnapshot, FoundWebsiteSnapshot } from "../../fleet/snapshot.ts";
import { groupBy } from "../../support/group-by.ts";

export const DIFFERENCES = ["missing", "enabled", "mode", "protocol", "backends"] as const;
export type DifferenceKind = (typeof DIFFERENCES)[number];

/** What the members of a cluster do not agree on about a website. */
export interface Difference {
  readonly kind: DifferenceKind;
  /** Host and port. */
  readonly address: string;
  /** Its id and its name at the first member that has it. */
  readonly websiteId: number;
  readonly website: string;
  /** Members that lack it, or what each member says. */
  readonly words: string;
}

export interface Differences {
  readonly all: readonly Difference[];
  /** Whether it is known which websites each member lacks. */
  readonly isComplete: boolean;
}

/**
 * The websites that the members of a cluster do not agree on, joined by host and port; `undefined` while the list of a member is
 * not known. What is not known differs from nothing: a member lacks a website only if all its websites are known. `names`:
 * by host and port.
 */
export function differencesOf(
  appliances: readonly ApplianceSnapshot[],
  names: ReadonlyMap<string, Pick<Difference, "websiteId" | "website">>,
): Differences | undefined {
  if (appliances.length < 2 || !appliances.every(({ discovery }) => discovery?.isListKnown === true))
    return undefined;
  const complete = appliances.filter(({ discovery }) => discovery?.isComplete === true);
  const named = appliances.flatMap(({ found }) => found).filter(({ address }) => address !== "");
  const all = [...groupBy(named, ({ address }) => address)].flatMap(([address, described]) => {
    const lacking = complete
      .filter(({ discovery }) => discovery?.addresses.has(address) !== true)
      .map(({ identity }) => identity.appliance);
    const { websiteId, website } = names.get(address) ?? { websiteId: 0, website: address };
    return DIFFERENCES.flatMap((kind): readonly Difference[] => {
      const words = kind === "missing" ? lacking.join(", ") : disagreement(described, ASPECTS[kind]);
      return words === "" ? [] : [{ kind, address, websiteId, website, words }];
    });
  });
  return { all, isComplete: complete.length === appliances.length };
}

type Aspect = (website: FoundWebsiteSnapshot) => string | undefined;

/** What each member says, if they say different things. */
function disagreement(all: readonly FoundWebsiteSnapshot[], aspect: Aspect): string {
  // An appliance may have several websites of one host and port.
  const said = [...groupBy(all, ({ identity }) => identity.appliance)].flatMap(([appliance, own]) => {
    const texts = [...new Set(own.flatMap((each) => aspect(each) ?? []))].toSorted();
    return texts.length === 0 ? [] : [{ text: texts.join(" and "), appliance }];
  });
  if (new Set(said.map(({ text }) => text)).size < 2) return "";
  return said.map(({ text, appliance }) => `${text} at ${appliance}`).join(", ");
}

/** Only of what is known. */
const ASPECTS: Readonly<Record<Exclude<DifferenceKind, "missing">, Aspect>> = {
  enabled: ({ details: { isEnabled } }) =>
    isEnabled === undefined ? undefined : isEnabled ? "enabled" : "disabled",
  mode: ({ details }) => details.mode,
  protocol: ({ details }) => details.protocol,
  backends: ({ details: { backends } }) =>
    backends &&
    `servers ${[...new Set(backends.map(({ address }) => address.toLowerCase()))].toSorted().join(" ") || "none"}`,
};
