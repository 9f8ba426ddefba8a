import { expect, it } from "vitest";
import { FAILING_POLLS } from "./failing-polls.ts";
import { HOSTILE_ANSWERS } from "./hostile-answers.ts";
import { PROOFS } from "./proofs.ts";

/** The faults that the program survives, by their numbers in docs/faults.md. */
const FAULTS = [
  1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 13, 15, 16, 17, 18, 19, 20, 21, 22, 24, 25, 26, 27, 28, 29, 31, 32, 34, 35,
  36, 37,
];

it("every fault has a row", () => {
  const rows = [...FAILING_POLLS, ...HOSTILE_ANSWERS, ...PROOFS].map(({ fault }) => fault);
  expect([...new Set(rows)].toSorted((a, b) => a - b)).toEqual(FAULTS);
});
