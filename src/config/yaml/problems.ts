import { MAX_ERRORS } from "../errors.ts";

/** `message` never holds anything of the text. */
export interface YamlProblem {
  readonly offset: number;
  readonly message: string;
}

/** What is wrong with the form of a text. However much that is, only the first hundred take memory. */
export interface Problems {
  add(offset: number, message: string): void;
  /** In the order in which they were found, at most 100. */
  first(): readonly YamlProblem[];
  count(): number;
}

export function createProblems(): Problems {
  const first: YamlProblem[] = [];
  let count = 0;
  return {
    add: (offset, message) => {
      count += 1;
      if (count <= MAX_ERRORS) first.push({ offset, message });
    },
    first: () => [...first],
    count: () => count,
  };
}
