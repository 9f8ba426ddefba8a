import type { ProblemDocument } from "../document/schema.ts";
import { listed } from "../../support/text.ts";

/** Returns a name of the API in words: `Down at master` for `down_at_master`; `Not known` without a name. */
export function inWords(name = "not_known"): string {
  const words = name.replaceAll("_", " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** Returns the kinds of the problems, each once, worst first: `Split brain and website down`. */
export function kindsOf(problems: readonly ProblemDocument[]): string {
  return inWords(listed([...new Set(problems.map(({ kind }) => kind))]));
}
