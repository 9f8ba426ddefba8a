import type { JsonPath, Report } from "./errors.ts";
import { errorAt, type YamlFile } from "./yaml.ts";

/** Settings and their location. */
export interface Place<T> {
  readonly file: YamlFile;
  readonly path: JsonPath;
  readonly settings: T;
}

/** The items of a list of settings, and where they are. */
export function items<T>(
  { file, path }: Place<unknown>,
  key: string,
  list: readonly T[] = [],
): readonly Place<T>[] {
  return list.map((settings, index) => ({ file, path: [...path, key, index], settings }));
}

/** Reports each place whose value for `key` an earlier place has too, with the place of the first. */
export function reportDuplicates<Key extends string>(
  places: readonly Place<Readonly<Record<Key, string>>>[],
  key: Key,
  report: Report,
): void {
  const firstOf = new Map<string, Place<unknown>>();
  for (const place of places) {
    const value = place.settings[key];
    const first = firstOf.get(value);
    if (first === undefined) {
      firstOf.set(value, place);
    } else {
      const { line, column } = first.file.locate([...first.path, key]);
      const message = `duplicate, also at ${first.file.file}:${line}:${column}`;
      report(errorAt(place.file, [...place.path, key], message));
    }
  }
}
