/** The labels that name a VRRP group. */
export const GROUP = "ha_cluster, vhid, vip";
/** A group as one of its members reports it; its interfaces there count as one. */
export const MEMBER = "ha_cluster, vhid, vip, appliance";
export const APPLIANCE = "ha_cluster, appliance";
/** A website of a cluster. */
export const WEBSITE = "ha_cluster, website_id, website, protocol";
/** A website as one appliance sees it. */
export const VIEW = `${WEBSITE}, appliance`;
/** One website test of one appliance, whatever its protocols. */
export const WEBSITE_TEST = "ha_cluster, website_id, website, appliance";
export const OPERATION = "ha_cluster, appliance, operation, website_id, website";

/** Matchers that the dashboard's variables fill in; groups have no label `appliance`. */
export const IN_CLUSTER = 'ha_cluster=~"$cluster"';
export const OF_APPLIANCE = `${IN_CLUSTER}, appliance=~"$appliance"`;
export const OF_WEBSITE = `${OF_APPLIANCE}, website=~"$website"`;

/**
 * The first expression that has a value for a label set wins, so the worst must come first.
 *
 * @see https://prometheus.io/docs/prometheus/latest/querying/operators/#logical-set-binary-operators
 */
export function firstOf(...expressions: readonly string[]): string {
  return expressions.join("\nor\n");
}

/** How many label sets an expression has; 0 where it has none while `base` has any, and nothing while the base is not known. */
export function countOf(expression: string, base: string): string {
  return firstOf(`count(${expression})`, `0 * count(${base})`);
}

/** Sets a label to a text. */
export function withLabel(expression: string, label: string, text: string): string {
  return `label_replace(${expression}, "${label}", "${text}", "", "")`;
}

/**
 * Whether a series was there at any of the instants that are shown, as 1. Costs the same for a day as for an hour: a
 * window of raw samples would hold all of them at each instant.
 */
export function seenInRange(labels: string, series: string): string {
  return `last_over_time((group by (${labels}) (${series}))[$__range:$__interval])`;
}
