import type { WebsiteDetails } from "../api/website-details.ts";
import type { MemberRole, PollHealth, StatusSnapshot } from "../fleet/snapshot.ts";
import { usableBackends } from "./judge-website.ts";
import {
  APPLIANCE_PROBLEMS,
  BACKEND_PROBLEMS,
  levelOf,
  WEBSITE_PROBLEMS,
  type BackendState,
  type Level,
  type ProblemKind,
  type WebsiteState,
} from "./states.ts";
import type { ApplianceVerdict, GroupVerdict, WebsiteVerdict } from "./verdict.ts";

// How well each part of a cluster is. No part is worse than the verdict to which it belongs.

export function applianceLevel(state: ApplianceVerdict["state"]): Level {
  return state === undefined ? "unknown" : levelOf(APPLIANCE_PROBLEMS[state]);
}

export function groupLevel({ state, problem }: GroupVerdict): Level {
  return state === undefined ? "unknown" : levelOf(problem);
}

/** The level of an appliance as a member of a group. */
export function memberLevel(role: MemberRole, { state }: GroupVerdict): Level {
  if (role === "unknown") return "unknown";
  if (role === "other") return levelOf("odd_state");
  return levelOf(role === "master" && state === "split_brain" ? state : undefined);
}

/** The level of a website; `isHidden`: that it is unknown follows from another problem. @see hidesWebsites */
export function websiteLevel(state: WebsiteState | undefined, isHidden: boolean): Level {
  if (state === undefined || (state === "unknown" && isHidden)) return "unknown";
  return levelOf(WEBSITE_PROBLEMS[state]);
}

/** The level of a result, under that of the website; one that does not count yet is not known. */
export function statusLevel({ isUp }: StatusSnapshot, website: Level): Level {
  if (isUp) return "well";
  return website === "well" ? "unknown" : website;
}

/** The level of a website as its appliances describe it. */
export function discoveredLevel({ backends, differences }: WebsiteVerdict): Level {
  const differ = differences.length > 0 ? "websites_differ" : undefined;
  return levelOf((backends && BACKEND_PROBLEMS[backends]) ?? differ);
}

/** The level of what one appliance says of the servers behind a website, under the state of these servers. */
export function descriptionLevel(details: WebsiteDetails, state: BackendState | undefined): Level {
  return isPartOf(state, details) ? levelOf(state && BACKEND_PROBLEMS[state]) : "well";
}

/** Whether what an appliance says of a website is part of the trouble with its servers. */
export function isPartOf(state: BackendState | undefined, details: WebsiteDetails): boolean {
  if (details.isEnabled === false) return false;
  const isLost = state === "none_usable" || state === "none_usable_but_up";
  return (details.backends?.failed ?? 0) > 0 || (isLost && usableBackends(details) === 0);
}

/** The level of an operation by its latest poll; `problem`: what a failure of it is, if it is one. */
export function pollLevel({ state, failure }: PollHealth, problem?: ProblemKind): Level {
  if (state === "never_polled") return "unknown";
  if (failure === undefined) return "well";
  return problem === undefined ? "unknown" : levelOf(problem);
}
