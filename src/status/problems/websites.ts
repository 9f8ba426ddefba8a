import type { ApplianceDocument, ClusterDocument, Problem } from "../schema.ts";
import { listed, reasonInWords, statusText } from "../words.ts";

type WebsiteRef = ClusterDocument["websites"][number];
type Website = ApplianceDocument["websites"][number];
type Found = Pick<Problem, "kind" | "severity" | "summary" | "since">;

/** A website by one protocol as one appliance sees it. */
interface Sight {
  readonly appliance: string;
  readonly protocol: string;
  readonly status: number;
  readonly isUp: boolean;
  readonly downSince?: string | undefined;
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
  // Of an appliance that cannot be seen nothing else is told.
  const blind = tests.filter(({ appliance, website }) => isFailing(website) && !isFailing(appliance));
  return isDown(name, sights) ?? isDownInPart(name, sights) ?? isUnknown(name, blind, sights.length === 0);
}

/** By a protocol by which no appliance that can tell sees it up. */
function isDown(name: string, sights: readonly Sight[]): Found | undefined {
  const up = new Set(sights.filter(({ isUp }) => isUp).map(({ protocol }) => protocol));
  const down = sights.filter(({ protocol }) => !up.has(protocol));
  if (down.length === 0) return undefined;
  const summary = `Website ${name} is down: ${answers(down)}`;
  return { kind: "website_down", severity: "critical", summary, since: earliest(down) };
}

function isDownInPart(name: string, sights: readonly Sight[]): Found | undefined {
  const down = sights.filter(({ isUp }) => !isUp);
  if (down.length === 0) return undefined;
  const protocols = new Set(down.map(({ protocol }) => protocol));
  const up = sights.filter(({ protocol, isUp }) => isUp && protocols.has(protocol));
  const others = listed([...new Set(up.map(({ appliance }) => appliance))]);
  const summary = `Website ${name} is down as seen from some only: ${answers(down)}; ${others} can reach it`;
  return { kind: "website_down_in_part", severity: "warning", summary, since: earliest(down) };
}

/** Critical where nobody can tell how it is. */
function isUnknown(
  name: string,
  blind: readonly { readonly appliance: ApplianceDocument; readonly website: Website }[],
  isAll: boolean,
): Found | undefined {
  const [first] = blind;
  if (first === undefined) return undefined;
  const from = listed(blind.map(({ appliance }) => appliance.name));
  const { poll } = first.website;
  if (poll.reason === undefined) return undefined;
  return {
    kind: "website_unknown",
    severity: isAll ? "critical" : "warning",
    summary: `Nothing is known of website ${name} from ${from}: its test fails, ${reasonInWords(poll.reason)}`,
    since: poll.failingSince ?? poll.lastSuccessAt,
  };
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

function earliest(sights: readonly Sight[]): string | undefined {
  return sights.flatMap(({ downSince }) => downSince ?? []).toSorted()[0];
}

function isFailing({ poll }: { readonly poll: Website["poll"] }): boolean {
  return poll.state === "failed";
}
