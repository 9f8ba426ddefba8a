import type { Problem } from "../../status/schema.ts";

/** `1 problem`, `2 problems`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** `a`, `a and b`, `a, b and c`. */
export function enumerate(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
}

/** The values without repetitions, in the order of their first occurrence. */
export function distinct<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)];
}

const KIND_WORDS: Readonly<Record<Problem["kind"], string>> = {
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
};

/** The kinds of the problems, each once, worst first: `Split brain and website down`. */
export function kindsOf(problems: readonly Problem[]): string {
  const words = enumerate(distinct(problems.map(({ kind }) => KIND_WORDS[kind])));
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
