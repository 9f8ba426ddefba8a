import type { ClusterDocument } from "../document/schema.ts";
import { mastersInWords } from "../judge/words.ts";
import { count } from "../../support/text.ts";

/** Returns `a`, `2 masters: a, b` or `master not known`, and the number of groups without one that is known; nothing without groups. */
export function mastersIn({ groups }: Pick<ClusterDocument, "groups">): readonly string[] {
  if (groups.length === 0) return [];
  const found = groups.map(({ master, masters = master === undefined ? [] : [master] }) => masters);
  const masters = [...new Set(found.flat())];
  const [first] = masters;
  if (first === undefined) return ["master not known"];
  const lacking = found.filter(({ length }) => length === 0).length;
  return [
    masters.length === 1 ? first : mastersInWords(masters),
    ...(lacking === 0 ? [] : [`none known of ${count(lacking, "VRRP group")}`]),
  ];
}
