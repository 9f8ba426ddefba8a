import type {
  ApplianceDocument,
  ClusterDocument,
  FailoverDocument,
  GroupDocument,
  PollDocument,
} from "../status/schema.ts";
import { groupName, NAMED, reasonInWords } from "../status/words.ts";
import { count, listed } from "../support/text.ts";

type Role = GroupDocument["members"][number]["role"];
/** The verdict is `unknown` where something unknown may be a loss. */
type Verdict = "ready" | "not_ready" | "unknown";

/** An answer to whether visitors lose nothing if an appliance stops, in one sentence. */
export interface Answer {
  readonly cluster: string;
  /** The appliance; `undefined` for groups of the cluster of which no appliance is the known MASTER. */
  readonly appliance?: string;
  readonly verdict: Verdict;
  readonly summary: string;
  readonly failover?: FailoverDocument | undefined;
}

const VERDICT_OF: Readonly<Record<FailoverDocument["state"], Verdict>> = {
  ready: "ready",
  losses: "not_ready",
  outage: "not_ready",
  unknown: "unknown",
};

/**
 * Returns the answers of the document for the appliances with these names, and for each MASTER in the clusters with these names; without
 * names, in all clusters of several appliances.
 */
export function answersOf(clusters: readonly ClusterDocument[], names: readonly string[]): readonly Answer[] {
  return clusters.flatMap((cluster) => {
    const { name: of, appliances, groups } = cluster;
    const isNamed = names.includes(of);
    const isWhole = appliances.length > 1 && (names.length === 0 || isNamed);
    // A name without an answer would look ready beside others that are ready.
    const isAlone = appliances.length === 1 && isNamed;
    const masters = groups.flatMap(({ members }) => members.filter(({ role }) => role === "master"));
    const asked = appliances.filter(({ name }) => {
      return (
        isAlone || names.includes(name) || (isWhole && masters.some((master) => master.appliance === name))
      );
    });
    const answers = asked.map((each) => answerOn(each, cluster));
    return isWhole ? [...answers, ...masterlessGroups(cluster)] : answers;
  });
}

/** Returns the worst verdict: `not_ready`, then `unknown`, also if there is no answer. */
export function verdictOn(answers: readonly Answer[]): Verdict {
  const verdicts = new Set(answers.map(({ verdict }) => verdict));
  if (verdicts.has("not_ready")) return "not_ready";
  return verdicts.has("unknown") || !verdicts.has("ready") ? "unknown" : "ready";
}

/** Returns an answer about the groups without a known MASTER, if there are any. Each appliance of the cluster may be that MASTER. */
function masterlessGroups({ name: cluster, groups, appliances }: ClusterDocument): readonly Answer[] {
  const masterless = groups.filter(({ members }) => members.every(({ role }) => role !== "master"));
  if (groups.length > 0 && masterless.length === 0) return [];
  const where = groups.length === 0 ? "" : ` of ${listed(masterless.map(groupName), NAMED)}`;
  const rests = appliances.flatMap(({ poll }) => (poll?.reason === "not_scheduled" ? whyUnknown(poll) : []));
  const why = rests.length === 0 ? "" : `: ${listed([...new Set(rests)])}`;
  const summary = `${cluster}: it is not known which appliance is MASTER${where}${why}`;
  return [{ cluster, verdict: "unknown", summary }];
}

function answerOn(appliance: ApplianceDocument, cluster: ClusterDocument): Answer {
  const { name, failover } = appliance;
  const of = { cluster: cluster.name, appliance: name, failover };
  if (failover !== undefined && failover.state !== "ready")
    return { ...of, verdict: VERDICT_OF[failover.state], summary: failover.summary };
  const doubts = doubtsOn(appliance, cluster);
  if (doubts.length > 0)
    return {
      ...of,
      verdict: "unknown",
      summary: `If ${name} fails: it is not known what is lost: ${listed(doubts, NAMED)}`,
    };
  const nothing = `If ${name} fails: nothing depends on it; redundancy is lost meanwhile`;
  return { ...of, verdict: "ready", summary: failover?.summary ?? nothing };
}

/**
 * Returns the unknown facts about an appliance whose failure costs nothing by the known ones. A poll that succeeded counts until two
 * intervals and a timeout after its end.
 */
function doubtsOn(
  { name, state, poll, failover, unreadableInterfaces = 0 }: ApplianceDocument,
  { appliances, groups }: ClusterDocument,
): readonly string[] {
  if (state === "disabled") return ["it is disabled, so it is not polled"];
  if (appliances.length === 1) return ["its cluster has no other appliance"];
  if (poll?.state !== "succeeded")
    return [poll?.reason === undefined ? "it was not polled yet" : whyUnknown(poll)];
  const own = groups.flatMap((group) =>
    group.members.flatMap(({ appliance, role }) => (appliance === name ? { group, role } : [])),
  );
  const isJudged = failover !== undefined;
  return [
    ...(own.length === 0 ? ["it is in no VRRP group"] : []),
    ...(unreadableInterfaces === 0
      ? []
      : [`${count(unreadableInterfaces, "interface")} of it cannot be read`]),
    ...own.flatMap(({ group, role }) => doubtIn(group, role, isJudged) ?? []),
  ];
}

/** Returns why a poll failed; of a schedule that rests, until when. */
function whyUnknown({ reason = "internal", message }: PollDocument): string {
  return reason === "not_scheduled" ? (message ?? reason) : reasonInWords(reason);
}

/** Returns the doubt about one group. `isJudged` says whether it is known what happens to the groups of which the appliance is MASTER. */
function doubtIn(group: GroupDocument, role: Role, isJudged: boolean): string | undefined {
  const vip = groupName(group);
  if (role === "unknown") return `its state in ${vip} is not known`;
  if (role === "master") return isJudged ? undefined : `a disabled appliance may be a BACKUP of ${vip}`;
  if (group.master === undefined) return `${vip} has no known MASTER`;
  return role === "backup" || isJudged ? undefined : `it is neither MASTER nor BACKUP of ${vip}`;
}
