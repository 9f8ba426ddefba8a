import { NEVER_TESTED } from "./websites.ts";
import { firstOf, OF_WEBSITE, VIEW } from "./promql.ts";

/** Where several exporters tell, the worse; evaluated at each step of the range. */
const SAMPLED = `(min by (${VIEW}) (website_up{${OF_WEBSITE}}))[$__range:$__interval]`;
/** Steps in the range, those included in which nothing was known or Prometheus did not run. */
const STEPS = "scalar(count_over_time(vector(1)[$__range:$__interval]))";

/** The share of the range in which a view was known to be up. */
export const UP_SHARE = firstOf(`sum_over_time(${SAMPLED}) / ${STEPS}`, `0 * (${NEVER_TESTED})`);

/** The share in which it was known to be down. */
export const DOWN_SHARE = firstOf(
  `(count_over_time(${SAMPLED}) - sum_over_time(${SAMPLED})) / ${STEPS}`,
  `0 * (${NEVER_TESTED})`,
);

/** What is left. */
export const UNKNOWN_SHARE = firstOf(`1 - count_over_time(${SAMPLED}) / ${STEPS}`, `(${NEVER_TESTED})`);

/** When it was last seen up within the range, as Unix time in milliseconds. */
export const LAST_UP = `1000 * max by (${VIEW}) (
  max_over_time(timestamp(website_up{${OF_WEBSITE}} == 1)[$__range:$__interval])
)`;

/** How often its status changed within the range. */
export const STATUS_CHANGES = `round(max by (${VIEW}) (increase(website_status_changes_total{${OF_WEBSITE}}[$__range])))`;
