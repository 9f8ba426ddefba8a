import type { WebsiteDetails } from "../../api/website-details.ts";
import type { FoundWebsiteSnapshot } from "../../fleet/snapshot.ts";
import { lacksServers } from "./backends.ts";

export const DIFFERENCES = ["missing", "enabled", "mode", "protocol", "backends"] as const;
export type DifferenceKind = (typeof DIFFERENCES)[number];

/** What the members of a cluster do not agree on about a website. */
export interface Difference {
  readonly kind: DifferenceKind;
  /** `missing at b`, or what each member says: `protect at a, pass at b`. */
  readonly words: string;
}

/**
 * What the members that have a website say of it differently; `lacking`: the members that are known to lack it. What is not known
 * differs from nothing.
 */
export function differencesIn(
  found: readonly FoundWebsiteSnapshot[],
  lacking: readonly string[],
): readonly Difference[] {
  return DIFFERENCES.flatMap((kind): readonly Difference[] => {
    if (kind === "missing")
      return lacking.length === 0 ? [] : [{ kind, words: `missing at ${lacking.join(", ")}` }];
    const said = found.flatMap(({ details, identity: { appliance } }) => {
      const text = ASPECTS[kind](details);
      return text === undefined ? [] : [{ text, appliance }];
    });
    if (new Set(said.map(({ text }) => text)).size < 2) return [];
    return [{ kind, words: said.map(({ text, appliance }) => `${text} at ${appliance}`).join(", ") }];
  });
}

/** Only of what is known. */
const ASPECTS: Readonly<
  Record<Exclude<DifferenceKind, "missing">, (details: WebsiteDetails) => string | undefined>
> = {
  enabled: ({ isEnabled }) => (isEnabled === undefined ? undefined : isEnabled ? "enabled" : "disabled"),
  mode: ({ mode }) => mode,
  protocol: ({ protocol }) => protocol,
  backends: ({ backends, invalid }) =>
    backends === undefined || lacksServers({ invalid })
      ? undefined
      : `servers ${[...new Set(backends.map(({ address }) => address.toLowerCase()))].toSorted().join(" ") || "none"}`,
};
