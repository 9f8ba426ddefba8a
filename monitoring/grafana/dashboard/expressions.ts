import { COLOR, type State } from "./panels.ts";

/** Labels that name a VRRP group, a member of one, an appliance, and so on. */
export const GROUP = "ha_cluster, vhid, vip";
export const MEMBER = `${GROUP}, appliance`;
export const APPLIANCE = "ha_cluster, appliance";
export const WEBSITE = "ha_cluster, website_id, website, protocol";
/** A website as one appliance sees it. */
export const VIEW = `${WEBSITE}, appliance`;
const WEBSITE_TEST = "ha_cluster, website_id, website, appliance";
export const OPERATION = "ha_cluster, appliance, operation, website_id, website";
const EXPORTER = "job, instance";

/** Matchers that the dashboard's variables fill in. Groups have no label `appliance`. */
export const IN_CLUSTER = 'ha_cluster=~"$cluster"';
export const OF_APPLIANCE = `${IN_CLUSTER}, appliance=~"$appliance"`;
export const OF_WEBSITE = `${OF_APPLIANCE}, website=~"$website"`;

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
export function seenInRange(labels: string, series: string): string {
  return `last_over_time((group by (${labels}) (${series}))[$__range:$__interval])`;
}

export const MASTERS = `vrrp_group_masters{${IN_CLUSTER}}`;
const BACKUPS = `vrrp_group_backups{${IN_CLUSTER}}`;
const UNKNOWN_MEMBERS = `vrrp_group_unknown_members{${IN_CLUSTER}}`;

export const SPLIT_BRAIN = `${MASTERS} >= 2`;
export const NO_MASTER = `${MASTERS} == 0 and ${UNKNOWN_MEMBERS} == 0`;
export const MASTER_UNKNOWN = `${MASTERS} == 0 and ${UNKNOWN_MEMBERS} > 0`;
export const NO_BACKUP = `${MASTERS} == 1 and ${BACKUPS} == 0 and ${UNKNOWN_MEMBERS} == 0`;
/** Some exporter knows all members of the group, or a master of it. */
export const MASTER_KNOWN = `${MASTERS} > 0 or ${UNKNOWN_MEMBERS} == 0`;
const BACKED_UP = `${MASTERS} == 1 and ${BACKUPS} > 0 and ${UNKNOWN_MEMBERS} == 0`;
const MEMBER_MISSING = `${MASTERS} == 1 and ${UNKNOWN_MEMBERS} > 0`;

/**
 * The states of a group. If exporters differ, the first state counts: what one exporter knows comes before what another
 * does not know. A group with an unknown member is never healthy.
 */
export const GROUP_STATES: readonly (State & { readonly when: string })[] = [
  { value: 5, text: "split brain", color: COLOR.bad, when: SPLIT_BRAIN },
  { value: 4, text: "no master", color: COLOR.bad, when: NO_MASTER },
  { value: 3, text: "no backup", color: COLOR.warning, when: NO_BACKUP },
  { value: 1, text: "one master, backed up", color: COLOR.good, when: BACKED_UP },
  { value: 2, text: "one master, a member unknown", color: COLOR.unknown, when: MEMBER_MISSING },
  { value: 0, text: "master unknown", color: COLOR.unknown, when: MASTER_UNKNOWN },
];

/** One of `GROUP_STATES` for each group. */
export const GROUP_STATE = firstOf(
  ...GROUP_STATES.map(({ value, when }) => `${value} * group by (${GROUP}) (${when})`),
);

export const MEMBER_STATES: readonly State[] = [
  { value: 1, text: "MASTER", color: COLOR.good },
  { value: 0, text: "BACKUP", color: COLOR.standby },
  { value: 2, text: "neither", color: COLOR.warning },
  { value: -1, text: "unknown", color: COLOR.unknown },
];

/** One of `MEMBER_STATES` for each member. Unknown: seen within the range, and its appliance does not answer now. */
export const MEMBER_STATE = firstOf(
  `group by (${MEMBER}) (vrrp_is_master{${OF_APPLIANCE}} == 1)`,
  `0 * group by (${MEMBER}) (vrrp_interface_info{${OF_APPLIANCE}, state="BACKUP"})`,
  `2 * group by (${MEMBER}) (vrrp_is_master{${OF_APPLIANCE}})`,
  `-1 * (${seenInRange(MEMBER, `vrrp_is_master{${OF_APPLIANCE}}`)}
  and on (${APPLIANCE}) appliance_up{${OF_APPLIANCE}} == 0)`,
);

export const UP = `website_up{${OF_WEBSITE}} == 1`;
/** The status of websites whose status is not an expected one. */
export const DOWN = `website_http_status{${OF_WEBSITE}} unless ${UP}`;
const NOT_TESTED = `appliance_poll_success{${OF_WEBSITE}, operation="website_test"} == 0`;
const SEEN = seenInRange(VIEW, `website_up{${OF_WEBSITE}}`);
const SEEN_BY_ANY = seenInRange(WEBSITE, `website_up{${IN_CLUSTER}, website=~"$website"}`);
const NEVER_SEEN = `group by (${WEBSITE_TEST}) (${NOT_TESTED}) unless on (${WEBSITE_TEST}) ${SEEN}`;

/** No successful test within the range. The protocols are those that other appliances of the cluster saw. */
const NEVER_TESTED = firstOf(
  ...["http", "https"].map(
    (protocol) => `(${withLabel(NEVER_SEEN, "protocol", protocol)}\n  and on (${WEBSITE}) ${SEEN_BY_ANY})`,
  ),
  `(${NEVER_SEEN} unless on (ha_cluster, website_id, website) ${SEEN_BY_ANY})`,
);
const UNKNOWN = firstOf(`(${SEEN} and on (${WEBSITE_TEST}) ${NOT_TESTED})`, NEVER_TESTED);

/** For each view: 1 if up, the status if down, -1 if unknown. */
export const WEBSITE_STATE = firstOf(
  `min by (${VIEW}) (${DOWN})`,
  `group by (${VIEW}) (${UP})`,
  `-1 * (${UNKNOWN})`,
);

/** The same as text in the label `cell`. The label `row` names the website. */
export const WEBSITE_CELLS = `group by (row, appliance, cell) (label_join(
label_replace(${cell(DOWN, "down")}, "cell", "no answer, down", "status", "0")
or on (${VIEW})
${cell(`website_http_status{${OF_WEBSITE}} and ${UP}`, "up")}
or on (${VIEW})
${withLabel(UNKNOWN, "cell", "unknown")},
"row", " ", "ha_cluster", "website", "protocol"))`;

function cell(status: string, word: string): string {
  const counted = `count_values by (${VIEW}) ("status", ${status})`;
  return `label_replace(${counted}, "cell", "$1 ${word}", "status", "(.+)")`;
}

/** If exporters differ, the worse counts. Evaluated at each step of the range. */
const SAMPLED = `(min by (${VIEW}) (website_up{${OF_WEBSITE}}))[$__range:$__interval]`;
/** All steps of the range, also those in which nothing was known or Prometheus did not run. */
const STEPS = "scalar(count_over_time(vector(1)[$__range:$__interval]))";

/** The shares of the range in which a view was known to be up, known to be down, and unknown. */
export const SHARES = [
  firstOf(`sum_over_time(${SAMPLED}) / ${STEPS}`, `0 * (${NEVER_TESTED})`),
  firstOf(`(count_over_time(${SAMPLED}) - sum_over_time(${SAMPLED})) / ${STEPS}`, `0 * (${NEVER_TESTED})`),
  firstOf(`1 - count_over_time(${SAMPLED}) / ${STEPS}`, `(${NEVER_TESTED})`),
] as const;

/** Exporters that were scraped within the range and cannot be scraped now. */
export const EXPORTER_GONE = `up == 0 and on (${EXPORTER}) ${seenInRange(EXPORTER, "appliance_exporter_build_info")}`;

export const EXPORTER_STATES: readonly State[] = [
  { value: 1, text: "runs as configured", color: COLOR.good },
  { value: 0, text: "configuration refused", color: COLOR.warning },
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
