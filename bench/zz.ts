import { WORST_LISTS, WORST_TESTS } from "../test/support/worst-answers.ts";
import { msOfLists, msOfTests } from "./answer-cost.ts";
const only = process.argv[2];
for (const [n, f] of Object.entries(WORST_LISTS)) {
  if (only && !n.includes(only)) continue;
  const r = msOfLists(f);
  console.log(r.toFixed(1), n);
}
for (const [n, f] of Object.entries(WORST_TESTS)) {
  if (only && !n.includes(only)) continue;
  console.log(msOfTests(f).toFixed(1), n);
}
