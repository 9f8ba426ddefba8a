import { COLOR, type State } from "./panels.ts";

/** Labels that name a VRRP group, a member of one, an appliance, and so on. */
export const GROUP = "ha_cluster, vhid, vip";
export const MEMBER = `${GROUP}, appliance`;
export const APPLIANCE = "ha_cluster, appliance";
export const WEBSITE = "ha_cluster, website_id, website, protocol";
/** A website as one appliance sees it. */
const VIEW = `${WEBSITE}, appliance`;
export const OPERATION = "ha_cluster, appliance, operation, website_id, website";
const EXPORTER = "job, instance";

/** Matchers that the dashboard's variables fill in. Groups and websites belong to clusters, not to appliances. */
export const IN_CLUSTER = 'ha_cluster=~"$cluster"';
export const OF_APPLIANCE = `${IN_CLUSTER}, appliance=~"$appliance"`;
export const OF_WEBSITE = `${IN_CLUSTER}, website=~"$website"`;

/** For each label set, the first expression that has a value. The worst must come first. */
export function firstOf(...expressions: readonly string[]): string {
  return expressions.join("\nor\n");
}

/** How many label sets an expression has. 0 if it has none but `base` has any; otherwise nothing. */
export function countOf(expression: string, base: string): string {
  return firstOf(`count(${expression})`, `0 * count(${base})`);
}

export function withLabel(expression: string, label: string, text: string): string {
  return `label_replace(${expression}, "${label}", "${text}", "", "")`;
}

/** 1 if the series existed within the range. It samples the range, so a long range costs no more than a short one. */
function seenInRange(labels: string, series: string): string {
  return `last_over_time((group by (${labels}) (${series}))[$__range:$__interval])`;
}

/** A state that a verdict of the exporter can have. */
export type VerdictState = State & { readonly state: string };

function verdict(value: number, state: string, text: string, color: State["color"]): VerdictState {
  return { value, state, text, color };
}

/** Worst first: if exporters differ, the first state counts, except that knowing counts before not knowing. */
export const GROUP_STATES: readonly VerdictState[] = [
  verdict(6, "split_brain", "split brain", COLOR.bad),
  verdict(5, "no_master", "no master", COLOR.bad),
  verdict(1, "one_master", "one master", COLOR.good),
  verdict(3, "no_backup", "no backup", COLOR.bad),
  verdict(4, "backup_unknown", "no known backup", COLOR.bad),
  verdict(2, "changing", "changing", COLOR.unknown),
  verdict(0, "unknown", "master unknown", COLOR.unknown),
];

export const WEBSITE_STATES: readonly VerdictState[] = [
  verdict(4, "down", "down", COLOR.bad),
  verdict(3, "down_at_master", "down at the master", COLOR.bad),
  verdict(2, "partially_down", "partially down", COLOR.warning),
  verdict(1, "up", "up", COLOR.good),
  verdict(0, "unknown", "unknown", COLOR.unknown),
];

const SUBJECTS = {
  vrrp_group: { labels: GROUP, matchers: IN_CLUSTER },
  website: { labels: WEBSITE, matchers: OF_WEBSITE },
  appliance: { labels: APPLIANCE, matchers: OF_APPLIANCE },
} as const;
export type Family = keyof typeof SUBJECTS;

/** The label sets for which an exporter reports one of these states, separated by `|`. */
export function inState(family: Family, states: string): string {
  const { labels, matchers } = SUBJECTS[family];
  return `group by (${labels}) (${family}_state{${matchers}, state=~"${states}"} == 1)`;
}

function stateOf(family: "vrrp_group" | "website", states: readonly VerdictState[]): string {
  return firstOf(...states.map(({ value, state }) => `${value} * ${inState(family, state)}`));
}

/** One of `GROUP_STATES` for each group. */
export const GROUP_STATE = stateOf("vrrp_group", GROUP_STATES);
/** One of `WEBSITE_STATES` for each website. */
export const WEBSITE_STATE = stateOf("website", WEBSITE_STATES);

/** The share of the range in which a website had one of these states. */
export function shareOf(states: string): string {
  return `avg_over_time((max by (${WEBSITE}) (website_state{${OF_WEBSITE}, state=~"${states}"}))[$__range:$__interval])`;
}

export const MEMBER_STATES: readonly State[] = [
  { value: 1, text: "MASTER", color: COLOR.good },
  { value: 0, text: "BACKUP", color: COLOR.standby },
  { value: 2, text: "other", color: COLOR.warning },
];

/** One of `MEMBER_STATES` for each member that is known. */
export const MEMBER_STATE = firstOf(
  ...["MASTER", "BACKUP", "other"].map(
    (state, index) =>
      `${[1, 0, 2][index]} * group by (${MEMBER}) (vrrp_state{${OF_APPLIANCE}, state="${state}"} == 1)`,
  ),
);

const VIEWED = `appliance=~"$appliance", ${OF_WEBSITE}`;
const UP = `website_up{${VIEWED}} == 1`;
/** The views of websites whose status is not an expected one. */
const DOWN = `website_http_status{${VIEWED}} unless ${UP}`;

/** The status that each appliance gets, as text in the label `cell`. The label `row` names the website. */
export const WEBSITE_CELLS = `group by (row, appliance, cell) (label_join(
label_replace(${cell(DOWN, "down")}, "cell", "no answer, down", "status", "0")
or on (${VIEW})
${cell(`website_http_status{${VIEWED}} and ${UP}`, "up")},
"row", " ", "ha_cluster", "website", "protocol"))`;

function cell(status: string, word: string): string {
  const counted = `count_values by (${VIEW}) ("status", ${status})`;
  return `label_replace(${counted}, "cell", "$1 ${word}", "status", "(.+)")`;
}

/** Exporters that were scraped within the range and cannot be scraped now. */
export const EXPORTER_GONE = `up == 0 and on (${EXPORTER}) ${seenInRange(EXPORTER, "appliance_exporter_build_info")}`;

export const EXPORTER_STATES: readonly State[] = [
  { value: 1, text: "runs as configured", color: COLOR.good },
  { value: 0, text: "configuration invalid", color: COLOR.warning },
  { value: -1, text: "not scraped", color: COLOR.bad },
];

/** One of `EXPORTER_STATES` for each exporter. */
export const EXPORTER_STATE = firstOf(
  `max by (${EXPORTER}) (appliance_exporter_config_last_reload_successful)`,
  `-1 * group by (${EXPORTER}) (${EXPORTER_GONE})`,
);

/** Exporters only: other programs have metrics of these names as well. */
export function ofExporters(expression: string): string {
  return `${expression} and on (${EXPORTER}) appliance_exporter_build_info`;
}

export function withVersion(expression: string): string {
  return `max by (${EXPORTER}, version, nodeversion) (
  ${expression} * on (${EXPORTER}) group_left (version, nodeversion) appliance_exporter_build_info
)`;
}
