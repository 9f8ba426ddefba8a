import { COLOR, type State } from "./panels.ts";

/** Labels that name a VRRP group, an interface of a member, an appliance, and so on. */
const GROUP = "ha_cluster, vhid, vip, interface";
export const MEMBER = `${GROUP}, appliance`;
export const APPLIANCE = "ha_cluster, appliance";
export const WEBSITE = "ha_cluster, website_id, website, protocol";
export const EXPORTERS = "job, instance";

/** Matchers that the dashboard's variables fill in. Groups and websites belong to clusters, not to appliances. */
export const AT_SITE = 'site=~"$site"';
export const IN_CLUSTER = `${AT_SITE}, ha_cluster=~"$cluster"`;
export const OF_APPLIANCE = `${IN_CLUSTER}, appliance=~"$appliance"`;
export const OF_WEBSITE = `${IN_CLUSTER}, website=~"$website"`;

/** For each label set, the first expression that has a value. The worst must come first. */
function firstOf(...expressions: readonly string[]): string {
  return expressions.join("\nor\n");
}

/** A state that a verdict of the exporter can have. */
type VerdictState = State & { readonly state: string };

function verdict(value: number, state: string, text: string, color: string): VerdictState {
  return { value, state, text, color };
}

/** Worst first: if exporters differ, the first state counts, except that knowing counts before not knowing. */
export const GROUP_STATES: readonly VerdictState[] = [
  verdict(6, "split_brain", "split brain", COLOR.bad),
  verdict(5, "no_master", "no master", COLOR.bad),
  verdict(1, "one_master", "one master", COLOR.good),
  verdict(3, "no_backup", "no backup", COLOR.bad),
  verdict(7, "backup_lost", "backup lost", COLOR.bad),
  verdict(4, "backup_unknown", "backup unknown", COLOR.unknown),
  verdict(2, "changing", "changing", COLOR.unknown),
  verdict(0, "unknown", "master unknown", COLOR.unknown),
  verdict(8, "unwatched", "master not watched", COLOR.unknown),
];

/** As `GROUP_STATES`. */
export const FAILOVER_STATES: readonly VerdictState[] = [
  verdict(3, "outage", "outage", COLOR.bad),
  verdict(2, "losses", "losses", COLOR.warning),
  verdict(1, "ready", "ready", COLOR.good),
  verdict(0, "unknown", "unknown", COLOR.unknown),
];

export const WEBSITE_STATES: readonly VerdictState[] = [
  verdict(4, "down", "down", COLOR.bad),
  verdict(3, "down_at_master", "down at the master", COLOR.bad),
  verdict(2, "partially_down", "partially down", COLOR.warning),
  verdict(5, "unstable", "unstable", COLOR.warning),
  verdict(1, "up", "up", COLOR.good),
  verdict(0, "unknown", "unknown", COLOR.unknown),
];

/** `counted`: the labels of what is counted. Both protocols of a website are one website. */
const SUBJECTS = {
  vrrp_group: { labels: GROUP, counted: GROUP, matchers: IN_CLUSTER },
  website: { labels: WEBSITE, counted: "ha_cluster, website_id, website", matchers: OF_WEBSITE },
  appliance: { labels: APPLIANCE, counted: APPLIANCE, matchers: OF_APPLIANCE },
  appliance_failover: { labels: APPLIANCE, counted: APPLIANCE, matchers: OF_APPLIANCE },
} as const;
export type Family = keyof typeof SUBJECTS;

/** The label sets for which an exporter reports one of these states, separated by `|`. */
function inState(family: Family, states: string, labels: string = SUBJECTS[family].labels): string {
  return `group by (${labels}) (${family}_state{${SUBJECTS[family].matchers}, state=~"${states}"} == 1)`;
}

/** How many have one of these states. 0 if none has, but the family has a series; otherwise nothing. */
export function countOf(family: Family, states: string): string {
  const all = `0 * count(${family}_state{${SUBJECTS[family].matchers}})`;
  return firstOf(`count(${inState(family, states, SUBJECTS[family].counted)})`, all);
}

/** One of the states for each subject that had another state than `good` within the range of the dashboard. */
function stateOf(family: Family, states: readonly VerdictState[], good: string): string {
  const { labels, matchers } = SUBJECTS[family];
  const trouble = `max_over_time(${family}_state{${matchers}, state!="${good}"}[$__range] @ end()) == 1`;
  const present = firstOf(...states.map(({ value, state }) => `${value} * ${inState(family, state)}`));
  return `(\n${present}\n)\nand on (${labels}) (${trouble})`;
}

/** One of `GROUP_STATES` for each group that had a problem. */
export const GROUP_STATE = stateOf("vrrp_group", GROUP_STATES, "one_master");
/** One of `WEBSITE_STATES` for each website that had a problem. */
export const WEBSITE_STATE = stateOf("website", WEBSITE_STATES, "up");

/** One of `FAILOVER_STATES` for each master whose failover was not ready. */
export const FAILOVER_STATE = stateOf("appliance_failover", FAILOVER_STATES, "ready");

/** The share of the range in which a website had one of these states. */
export function shareOf(states: string): string {
  return `avg_over_time((max by (${WEBSITE}) (website_state{${OF_WEBSITE}, state=~"${states}"}))[$__range:$__interval])`;
}

export const MEMBER_STATES: readonly VerdictState[] = [
  verdict(1, "MASTER", "MASTER", COLOR.good),
  verdict(0, "BACKUP", "BACKUP", COLOR.standby),
  verdict(2, "other", "other", COLOR.warning),
];

/** One of `MEMBER_STATES` for each member that is known. */
export const MEMBER_STATE = firstOf(
  ...MEMBER_STATES.map(
    ({ value, state }) =>
      `${value} * group by (${MEMBER}) (vrrp_state{${OF_APPLIANCE}, state="${state}"} == 1)`,
  ),
);

/** Exporters only: other programs have metrics of these names as well. */
export function ofExporters(expression: string): string {
  return `${expression} and on (${EXPORTERS}) appliance_exporter_build_info`;
}
