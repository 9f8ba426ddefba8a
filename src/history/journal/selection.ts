import { readLines, type TimeRange } from "./day-files.ts";
import { atOf } from "./record.ts";

export interface Selection extends TimeRange {
  /** The names of clusters; none means all clusters. */
  readonly clusters: readonly string[];
}

/** Every complete line begins with this pattern, and ends with a brace. */
const BEGIN = /^\{"at":"[^"]{24}",/;
/** No text contains this key, since its quotation marks would have backslashes before them. */
const CLUSTER = '"cluster":"';

/**
 * Returns the lines of `readLines` before the end of the range that are about these clusters or about the exporter itself, unchanged. The
 * lines of the first day before the range have the state at its beginning.
 */
export async function* selectLines(
  folder: string,
  { clusters, ...range }: Selection,
  onDamaged: (path: string, error: unknown) => void,
): AsyncGenerator<readonly string[]> {
  const end = new Date(range.toMs).toISOString();
  const wanted = clusters.map((name) => `"cluster":${JSON.stringify(name)}`);
  function isAbout(line: string): boolean {
    const begin = line.indexOf(CLUSTER);
    return begin === -1 || wanted.length === 0 || wanted.some((each) => line.startsWith(each, begin));
  }
  function isSelected(line: string): boolean {
    return isAbout(line) && BEGIN.test(line) && line.endsWith("}") && atOf(line) < end;
  }
  for await (const lines of readLines(folder, range, onDamaged)) yield lines.filter(isSelected);
}
