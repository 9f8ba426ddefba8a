import { elsewhereWords, type WindowElsewhere } from "../maintenance/window.ts";
import { count, listed } from "../../support/text.ts";
import type {
  ApplianceDocument,
  ClusterDocument,
  ReadinessDocument,
  GroupDocument,
  PollDocument,
  ReadyDocument,
} from "./schema.ts";
import { groupName, mastersInWords, FEW, reasonInWords, shortened } from "../judge/words.ts";

type Role = GroupDocument["members"][number]["role"];

/** The part of a cluster on which the answers depend. */
type Members = Pick<ClusterDocument, "groups" | "appliances">;

const VERDICT_OF: Readonly<Record<ReadinessDocument["state"], ReadyDocument["verdict"]>> = {
  ready: "ready",
  losses: "not_ready",
  outage: "not_ready",
  unknown: "unknown",
};

/** Returns the answer to whether visitors lose nothing if an appliance stops now, and while the others that are worked on stop. */
export function readyOn(
  appliance: ApplianceDocument,
  { elsewhere, ...cluster }: Members & { readonly elsewhere: readonly WindowElsewhere[] },
): ReadyDocument {
  const apart = readyApart(appliance, cluster);
  if (elsewhere.length === 0) return apart;
  const why = elsewhere.map(elsewhereWords).join("; ");
  const summary =
    apart.verdict === "ready"
      ? `If ${appliance.name} fails, nobody may be left: ${why}`
      : `${apart.summary}; ${why}`;
  const windows = elsewhere.map(({ window }) => window.id);
  return { verdict: "not_ready", summary: shortened(summary), apart: { windows, ...apart } };
}

/** Returns the answer, whatever is planned. */
function readyApart(
  appliance: ApplianceDocument,
  cluster: Members,
): Pick<ReadyDocument, "verdict" | "summary"> {
  const { name, failover } = appliance;
  if (failover !== undefined && failover.state !== "ready")
    return { verdict: VERDICT_OF[failover.state], summary: failover.summary };
  const doubts = doubtsOn(appliance, cluster);
  if (doubts.length > 0) {
    const summary = `If ${name} fails, it is not known what is lost: ${listed(doubts, FEW)}`;
    return { verdict: "unknown", summary: shortened(summary) };
  }
  const nothing = `If ${name} fails, nothing depends on it; redundancy is lost meanwhile`;
  return { verdict: "ready", summary: failover?.summary ?? nothing };
}

/**
 * Returns an answer about the groups of a cluster without a known MASTER, if there are any, or if no group is known. Each of several
 * appliances may be that MASTER.
 */
export function masterlessIn(cluster: string, { groups, appliances }: Members): ReadyDocument | undefined {
  if (appliances.length < 2) return undefined;
  const masterless = groups.filter(({ members }) => members.every(({ role }) => role !== "master"));
  if (groups.length > 0 && masterless.length === 0) return undefined;
  const where = groups.length === 0 ? "" : ` of ${listed(masterless.map(groupName), FEW)}`;
  const rests = appliances.flatMap(({ poll }) => (poll?.reason === "not_scheduled" ? whyUnknown(poll) : []));
  const why = rests.length === 0 ? "" : `: ${listed([...new Set(rests)])}`;
  const summary = `${cluster}: it is not known which appliance is MASTER${where}${why}`;
  return { verdict: "unknown", summary: shortened(summary) };
}

/**
 * Returns the unknown facts about an appliance whose failure costs nothing by the known ones. A poll that succeeded counts until two
 * intervals and a timeout after its end.
 */
function doubtsOn(
  { name, state, poll, failover, unreadableInterfaces = 0 }: ApplianceDocument,
  { appliances, groups }: Members,
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
  const { master, masters } = group;
  if (masters !== undefined) return `${vip} has ${mastersInWords(masters)}`;
  if (master === undefined) return `${vip} has no known MASTER`;
  return role === "backup" || isJudged ? undefined : `it is neither MASTER nor BACKUP of ${vip}`;
}
