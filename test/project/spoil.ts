type Path = readonly (string | number)[];

/** Where every value within `value` is. */
export function pathsOf(value: unknown, prefix: Path = []): readonly Path[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const path = [...prefix, Array.isArray(value) ? Number(key) : key];
    return [path, ...pathsOf(inner, path)];
  });
}

/** A copy in which the value at the path is one that no schema allows. */
export function spoilAt(value: unknown, [key, ...rest]: Path): unknown {
  if (key === undefined) return Symbol("of no type");
  if (Array.isArray(value))
    return value.map((inner, index) => (index === key ? spoilAt(inner, rest) : inner));
  return Object.fromEntries(
    Object.entries(value ?? {}).map(([name, inner]) => [name, name === key ? spoilAt(inner, rest) : inner]),
  );
}
