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

/**
 * The websites that the members of a cluster do not agree on, joined by host and port; `undefined` while the list of a member is
 * not known. What is not known differs from nothing: a member lacks a website only if all its websites are known.
 */
export function differencesOf(appliances: readonly ApplianceSnapshot[]): readonly Difference[] | undefined {
  if (appliances.length < 2 || !appliances.every(({ discovery }) => discovery?.isListKnown === true))
    return undefined;
  const complete = appliances.filter(({ discovery }) => discovery?.isComplete === true);
  const named = appliances.flatMap(({ found }) => found).filter(({ address }) => address !== "");
  return [...groupBy(named, ({ address }) => address)].flatMap(([address, all]) => {
    const [first] = all;
    if (first === undefined) return [];
    const has = new Set(all.map(({ identity }) => identity.appliance));
    const lacking = complete.map(({ identity }) => identity.appliance).filter((name) => !has.has(name));
    const { websiteId, website } = first;
    return DIFFERENCES.flatMap((kind): readonly Difference[] => {
      const words = kind === "missing" ? lacking.join(", ") : disagreement(all, ASPECTS[kind]);
      return words === "" ? [] : [{ kind, address, websiteId, website, words }];
    });
  });
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
    `servers ${[...new Set(backends.map(({ address }) => address))].toSorted().join(" ") || "none"}`,
};
