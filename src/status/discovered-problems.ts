import type { FailureReason } from "../client/failure.ts";
import type { ClusterVerdict, DiscoveredWebsite } from "./verdict.ts";
import type { Problem } from "./schema.ts";
import { BACKEND_PROBLEMS } from "./severity.ts";
import { failedBackends, usableBackends } from "./verdicts/backends.ts";
import { listed, reasonInWords } from "./words.ts";

const NAMED_WEBSITES = 12;
/** Older firmware has no list; what makes an appliance unreachable is a problem of its own. */
const NO_FAULTS: ReadonlySet<FailureReason> = new Set(["unsupported", "appliance_down"]);

/** What is wrong with the websites that appliances list, without its severity. */
export function discoveredProblems({
  facts,
  discovered,
}: ClusterVerdict): readonly Omit<Problem, "severity">[] {
  const names = (discovered?.websites ?? [])
    .filter(({ differences }) => differences.length > 0)
    .map(({ website, differences }) => `${website} (${differences.map(({ words }) => words).join("; ")})`);
  const differing = `The members of ${facts.cluster} differ in ${listed(names, NAMED_WEBSITES)}`;
  return [
    ...(discovered?.websites ?? []).flatMap(backendProblem),
    ...(names.length === 0 ? [] : [{ kind: "websites_differ", summary: differing } as const]),
    ...facts.appliances.flatMap(({ identity: { appliance }, discovery }) => {
      const reason = discovery?.list.failure?.reason;
      if (reason === undefined || NO_FAULTS.has(reason)) return [];
      const summary = `The websites of ${appliance} cannot be listed: ${reasonInWords(reason)}`;
      return [{ kind: "websites_not_listed", summary, appliance } as const];
    }),
    ...facts.appliances.flatMap(({ identity: { appliance }, discovery }) => {
      const left = discovery?.beyondLimit ?? 0;
      const summary = `${left} websites of ${appliance} are left out: it has more than the limit of website_discovery`;
      return left === 0 ? [] : [{ kind: "websites_left_out", summary, appliance } as const];
    }),
  ];
}

function backendProblem({
  websiteId: id,
  website: name,
  state,
  found,
}: DiscoveredWebsite): readonly Omit<Problem, "severity">[] {
  const kind = state && BACKEND_PROBLEMS[state];
  if (kind === undefined) return [];
  const isLost = state !== "some_down";
  const said = found.flatMap(({ identity: { appliance }, details }) => {
    const failed = failedBackends(details);
    if (failed.length > 0) return [`${listed(failed, NAMED_WEBSITES)} at ${appliance}`];
    return isLost && usableBackends(details) === 0 ? [`none in service at ${appliance}`] : [];
  });
  const summary = isLost
    ? `No server behind website ${name} is usable: ${said.join(", ")}`
    : `Servers behind website ${name} are down: ${said.join(", ")}`;
  return [{ kind, summary, website: { id, name } }];
}
