import type { WebsiteDetails } from "../api/website-details.ts";
import type { TestResult } from "../fleet/snapshot.ts";
import type { WebsiteVerdict } from "./verdict.ts";
import { PROBLEM_OF, type BackendState, type ProblemKind, type WebsiteState } from "./states.ts";

/** The result of one appliance that tests a website by one protocol. */
export interface MemberTest {
  readonly result: TestResult;
  /** @see ProtocolResult.isUnstable */
  readonly isUnstable: boolean;
  /** Whether the appliance is known to be MASTER of a group of its cluster. */
  readonly isMaster: boolean;
}

/**
 * Returns the state of a website for its visitors, whom the masters serve; `undefined` if the master may be an appliance that is disabled,
 * or whose schedule rests (`hasUnwatched`). `hasGroups` says that the cluster has VRRP groups, and so masters. The first of these that holds:
 *
 * - `down`: all appliances with a result find it down.
 * - `down_at_master`: a master finds it down, another member up.
 * - `unknown`: no appliance has a result, or no known master that tests it has one.
 * - `partially_down`: all masters with a result find it up, another member down.
 * - `unstable`: some tests of a master, or of an appliance without groups, fail and the next one does not.
 * - `up`: a master finds it up, or the cluster has no groups.
 */
export function judgeWebsite(
  views: readonly MemberTest[],
  { hasGroups, hasUnwatched }: { readonly hasGroups: boolean; readonly hasUnwatched: boolean },
): WebsiteState | undefined {
  const known = views.filter(({ result }) => result !== "unknown");
  const down = known.filter(({ result }) => result === "down");
  if (known.length === 0) return "unknown";
  if (down.length === known.length) return "down";
  if (down.some(({ isMaster }) => isMaster)) return "down_at_master";
  if (hasGroups && !known.some(({ isMaster }) => isMaster)) {
    return hasUnwatched && !views.some(({ isMaster }) => isMaster) ? undefined : "unknown";
  }
  if (down.length > 0) return "partially_down";
  return known.some(({ isUnstable, isMaster }) => isUnstable && (isMaster || !hasGroups)) ? "unstable" : "up";
}

/** Whether visitors reach a website in this state. */
function isReached(state: WebsiteState | undefined): boolean {
  return state === "up" || state === "unstable" || state === "partially_down";
}

/** Returns the problem of a website by one of its protocols: less, if it is not known beside another one that is up. */
export function protocolProblem(
  state: WebsiteState | undefined,
  all: readonly { readonly state: WebsiteState | undefined }[],
): ProblemKind | undefined {
  const isPart = state === "unknown" && all.some((each) => isReached(each.state));
  return isPart ? "website_partially_unknown" : state && PROBLEM_OF.website[state];
}

/**
 * Returns the state of a website that none of the known masters tests; `judged` is the state by the tests of the other members. Visitors of
 * the masters have another result, unless all masters lack the website. `isOff` says that a master has it disabled, and serves it to
 * nobody. `mayMastersHave` says that a master may have the website.
 */
export function withoutMasters(
  judged: WebsiteState | undefined,
  isOff: boolean,
  mayMastersHave: boolean,
): WebsiteState | undefined {
  if (!isOff && !mayMastersHave) return judged;
  if (judged === "unknown") return undefined;
  if (judged !== "down") return judged;
  return isOff ? undefined : "partially_down";
}

/**
 * Returns the state of the servers behind a website; `undefined` while the state is not known, and for a website that is disabled. The
 * masters decide whether there is a usable server; if none of them knows, all appliances decide. `isUp` says that tests find the website
 * up. `isMasterSilent` says that the details of a master that has the website are not known.
 *
 * - `none_usable`: no server that is in service reports OK. `none_usable_but_up`: and yet tests find the website up.
 * - `some_down`: an appliance reports an error of a server that is in service.
 */
export function judgeBackends(
  views: readonly (Pick<MemberTest, "isMaster"> & { readonly details: WebsiteDetails })[],
  { isUp, isMasterSilent }: { readonly isUp: boolean; readonly isMasterSilent: boolean },
): BackendState | undefined {
  const enabled = views.filter(({ details }) => details.isEnabled !== false);
  const known = enabled.flatMap(({ details, isMaster }) => {
    const usable = usableBackends(details);
    return usable === undefined ? [] : [{ usable, isMaster }];
  });
  const masters = known.filter(({ isMaster }) => isMaster);
  // If all masters have the website disabled, nobody misses its servers.
  const isOff = views.some(({ isMaster }) => isMaster) && !enabled.some(({ isMaster }) => isMaster);
  const isLost =
    masters.length > 0
      ? masters.some(({ usable }) => usable === 0)
      : !isOff && known.length > 0 && known.every(({ usable }) => usable === 0);
  if (isLost) return isUp ? "none_usable_but_up" : "none_usable";
  if (isMasterSilent) return undefined;
  if (enabled.some(({ details: { backends } }) => backends !== undefined && backends.failed > 0))
    return "some_down";
  return known.length === 0 ? undefined : "ok";
}

/** Returns the number of servers in service that report OK; `undefined` if none does and an uncertain one may be usable. */
export function usableBackends({ backends }: WebsiteDetails): number | undefined {
  return backends?.usable === 0 && backends.uncertain > 0 ? undefined : backends?.usable;
}

/** Returns whether the servers that an appliance reports are part of the trouble with a website. */
export function isPartOf(state: BackendState | undefined, details: WebsiteDetails): boolean {
  if (details.isEnabled === false) return false;
  const isLost = state === "none_usable" || state === "none_usable_but_up";
  return (details.backends?.failed ?? 0) > 0 || (isLost && usableBackends(details) === 0);
}

/** Returns the appliances that find a website down by a protocol by which visitors are served. */
export function partiallyDownAt({
  states,
  results,
  at,
}: Pick<WebsiteVerdict, "states" | "results" | "at">): readonly string[] {
  const partial = states.filter(({ state }) => state === "partially_down");
  return at.flatMap(({ known: { identity } }, nth) => {
    const isDown = results[nth]?.some(
      ({ protocol, result }) => result === "down" && partial.some((state) => state.protocol === protocol),
    );
    return isDown === true ? identity.appliance : [];
  });
}

/** Returns the appliances that report servers that are part of the trouble with a website. */
export function failingBackendsAt({
  backends,
  found,
}: Pick<WebsiteVerdict, "backends" | "found">): readonly string[] {
  return found.flatMap(({ identity, details }) => (isPartOf(backends, details) ? identity.appliance : []));
}
