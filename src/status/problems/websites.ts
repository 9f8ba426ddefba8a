import type { FailureReason } from "../../client/failure.ts";
import type { ApplianceDocument, ClusterDocument, Problem } from "../schema.ts";
import { listed, reasonInWords, statusText } from "../words.ts";

type WebsiteRef = ClusterDocument["websites"][number];
type Website = ApplianceDocument["websites"][number];
type Found = Pick<Problem, "kind" | "severity" | "summary" | "since" | "isSinceAtLeast">;

interface Test {
  readonly appliance: ApplianceDocument;
  readonly website: Website;
}

/** A website by one protocol as one appliance sees it. */
interface Sight {
  readonly appliance: string;
  readonly protocol: string;
  readonly status: number;
  readonly isUp: boolean;
  readonly downSince?: string | undefined;
  readonly isDownSinceAtLeast?: true | undefined;
}

/** What is wrong with a cluster's websites; one thing for each, the worst. */
export function websiteProblems(cluster: ClusterDocument): readonly Problem[] {
  return cluster.websites.flatMap((website) => {
    const found = wrongWith(website, cluster.appliances);
    return found === undefined ? [] : [{ ...found, cluster: cluster.name, website }];
  });
}

function wrongWith({ id, name }: WebsiteRef, appliances: readonly ApplianceDocument[]): Found | undefined {
  const tests = appliances.flatMap((appliance) =>
    appliance.websites.filter((website) => website.id === id).map((website) => ({ appliance, website })),
  );
  const sights = tests.flatMap(({ appliance, website: { statuses = [] } }) =>
    statuses.map((status) => ({ appliance: appliance.name, ...status })),
  );
  return (
    isDown(name, sights) ??
    isDownInPart(name, sights) ??
    isUntested(name, tests, sights.length === 0) ??
    isUnread(name, tests, sights.length === 0)
  );
}

/** By a protocol by which no appliance that can tell sees it up. */
function isDown(name: string, sights: readonly Sight[]): Found | undefined {
  const up = new Set(sights.filter(({ isUp }) => isUp).map(({ protocol }) => protocol));
  const down = sights.filter(({ protocol }) => !up.has(protocol));
  if (down.length === 0) return undefined;
  const summary = `Website ${name} is down: ${answers(down)}`;
  return { kind: "website_down", severity: "critical", summary, ...sinceOf(lastOfEach(down)) };
}

/** By a protocol it is down since the last appliance saw it go. */
function lastOfEach(down: readonly Sight[]): readonly Sight[] {
  return [...new Map(down.toSorted(bySince).map((sight) => [sight.protocol, sight])).values()];
}

function isDownInPart(name: string, sights: readonly Sight[]): Found | undefined {
  const down = sights.filter(({ isUp }) => !isUp);
  if (down.length === 0) return undefined;
  const protocols = new Set(down.map(({ protocol }) => protocol));
  const up = sights.filter(({ protocol, isUp }) => isUp && protocols.has(protocol));
  const summary = `Website ${name} is down as seen from some only: ${answers(down)}; up: ${answers(up)}`;
  return { kind: "website_down_in_part", severity: "warning", summary, ...sinceOf(down) };
}

/** The tests fail; critical where nobody can tell how it is. Of an appliance that cannot be seen nothing else is told. */
function isUntested(name: string, tests: readonly Test[], isAll: boolean): Found | undefined {
  const blind = tests.filter(({ appliance, website }) => isFailing(website) && !isFailing(appliance));
  if (blind.length === 0) return undefined;
  const from = listed(blind.map(({ appliance }) => appliance.name));
  return {
    kind: "website_unknown",
    severity: isAll ? "critical" : "warning",
    summary: `Nothing is known of website ${name} from ${from}: its test fails, ${reasons(blind)}`,
    since: blind
      .flatMap(({ website: { poll } }) => poll.failingSince ?? poll.lastSuccessAt ?? [])
      .toSorted()[0],
  };
}

/** `it does not answer in time (timeout)`; where they differ, from whom each: `from a …; from b …`. */
function reasons(blind: readonly Test[]): string {
  const from = new Map<FailureReason, readonly string[]>();
  for (const { appliance, website } of blind) {
    const { reason } = website.poll;
    if (reason !== undefined) from.set(reason, [...(from.get(reason) ?? []), appliance.name]);
  }
  if (from.size === 1) return [...from.keys()].map(reasonInWords).join("");
  return Array.from(from, ([reason, names]) => `from ${listed(names)}: ${reasonInWords(reason)}`).join("; ");
}

/** The tests succeed, and tell no status. */
function isUnread(name: string, tests: readonly Test[], isAll: boolean): Found | undefined {
  const from = new Map<string, readonly string[]>();
  for (const { appliance, website } of tests) {
    const { statuses, unread = [] } = website;
    if (statuses === undefined || (statuses.length > 0 && unread.length === 0)) continue;
    const by = unread.length === 0 ? "" : ` by ${listed(unread)}`;
    from.set(by, [...(from.get(by) ?? []), appliance.name]);
  }
  if (from.size === 0) return undefined;
  const where = Array.from(from, ([by, names]) => `from ${listed(names)}${by}`).join(", ");
  const summary = `No status of website ${name} can be read ${where}`;
  return { kind: "website_unknown", severity: isAll ? "critical" : "warning", summary };
}

/** `https 503 from a and b, http no HTTP response from a`. */
function answers(sights: readonly Sight[]): string {
  const from = new Map<string, string[]>();
  for (const { appliance, protocol, status } of sights) {
    const answer = `${protocol} ${statusText(status)}`;
    from.set(answer, [...(from.get(answer) ?? []), appliance]);
  }
  return Array.from(from, ([answer, appliances]) => `${answer} from ${listed(appliances)}`).join(", ");
}

function bySince(a: Sight, b: Sight): number {
  return (a.downSince ?? "") < (b.downSince ?? "") ? -1 : 1;
}

function sinceOf(sights: readonly Sight[]): Pick<Found, "since" | "isSinceAtLeast"> {
  const [first] = sights.toSorted(bySince);
  return { since: first?.downSince, isSinceAtLeast: first?.isDownSinceAtLeast };
}

function isFailing({ poll }: { readonly poll: Website["poll"] }): boolean {
  return poll.state === "failed";
}
