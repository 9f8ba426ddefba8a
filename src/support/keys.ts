/** Returns the keys of a constant table, in the order of its text. */
export function keysOf<Key extends string>(table: Readonly<Record<Key, unknown>>): [Key, ...Key[]] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys gives string[], these are the keys of a constant
  return Object.keys(table) as [Key, ...Key[]];
}
