import type { WebsiteDetails } from "../api/website-details.ts";
import type { MemberRole, StatusSnapshot } from "../fleet/snapshot.ts";
import { usableBackends } from "./judge-website.ts";
import { BACKEND_PROBLEMS, levelOf, WEBSITE_PROBLEMS, type BackendState, type Level } from "./states.ts";
import type { GroupVerdict, ProtocolVerdict } from "./verdict.ts";

// How well each part of a cluster is. No part is worse than the verdict to which it belongs.

/** The level of an appliance as a member of a group. */
export function memberLevel(role: MemberRole, { state }: GroupVerdict): Level {
  if (role === "unknown") return "unknown";
  if (role === "other") return levelOf("odd_state");
  return levelOf(role === "master" && state === "split_brain" ? state : undefined);
}

/** The level of a website by one protocol; `isHidden`: that it is unknown follows from another problem. @see hidesWebsites */
export function websiteLevel(judged: ProtocolVerdict | undefined, isHidden: boolean): Level {
  const { state } = judged ?? {};
  return levelOf(state && WEBSITE_PROBLEMS[state], state !== undefined && !(state === "unknown" && isHidden));
}

/** The level of a result, under that of the website; one that does not count yet is not known. */
export function statusLevel({ isUp }: StatusSnapshot, website: Level): Level {
  if (isUp) return "well";
  return website === "well" ? "unknown" : website;
}

/** The level of what one appliance says of the servers behind a website, under the state of these servers. */
export function descriptionLevel(details: WebsiteDetails, state: BackendState | undefined): Level {
  return levelOf(isPartOf(state, details) && state ? BACKEND_PROBLEMS[state] : undefined);
}

/** Returns whether the servers that an appliance reports are part of the trouble with a website. */
export function isPartOf(state: BackendState | undefined, details: WebsiteDetails): boolean {
  if (details.isEnabled === false) return false;
  const isLost = state === "none_usable" || state === "none_usable_but_up";
  return (details.backends?.failed ?? 0) > 0 || (isLost && usableBackends(details) === 0);
}
