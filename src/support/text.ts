/** How many of the names in a message or warning about a fleet are written out. */
export const MAX_NAMED = 5;

/** Names as people read them: `a`, `a and b`, `a, b and c`; of more than `most`, these and how many more there are. */
export function listed(names: readonly string[], most = Number.POSITIVE_INFINITY): string {
  const more = names.length - most;
  if (more > 0) return listed([...names.slice(0, most), `${more} more`]);
  const last = names.at(-1) ?? "none";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}
