import type { Problem } from "../../status/schema.ts";

/** `1 problem`, `2 problems`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** `a`, `a and b`, `a, b and c`. */
function enumerate(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
}

/** A name of the API in words: `Down at master` for `down_at_master`; `Not known` where there is none. */
export function inWords(name = "not_known"): string {
  const words = name.replaceAll("_", " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** The values without repetitions, in the order of their first occurrence. */
export function distinct<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)];
}

/** The kinds of the problems, each once, worst first: `Split brain and website down`. */
export function kindsOf(problems: readonly Problem[]): string {
  return inWords(enumerate(distinct(problems.map(({ kind }) => kind))));
}
