import type { Problem } from "../../../status/schema.ts";
import { distinct, enumerate } from "./words.ts";

/** A later version may know of more kinds. */
const KIND_WORDS: Readonly<Partial<Record<string, string>>> = {
  split_brain: "split brain",
  no_master: "no master",
  group_vanished: "group not reported any more",
  master_unknown: "master unknown",
  website_down: "website down",
  appliance_down: "appliance down",
  website_down_in_part: "website down in part",
  website_unknown: "website unknown",
  odd_state: "neither master nor backup",
  redundancy_lost: "no backup",
  flapping: "flapping",
  preferred_master_lost: "not on the preferred master",
  certificate_expires: "certificate expiry",
  api_anomalies: "odd answers",
  reload_failed: "configuration not reloaded",
  master_changing: "master changing",
  not_polled_yet: "not polled yet",
} satisfies Record<Problem["kind"], string>;

/** What is wrong in short, worst first, each kind once: `Split brain and website down`. */
export function kindsOf(problems: readonly Problem[]): string {
  const words = enumerate(distinct(problems.map(({ kind }) => KIND_WORDS[kind] ?? kind)));
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
