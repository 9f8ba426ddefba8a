import { readLines, type TimeRange } from "./day-files.ts";
import { atOf } from "./record.ts";

export interface Selection extends TimeRange {
  /** Names of clusters; none: all clusters. */
  readonly clusters: readonly string[];
}

/** Every line that was written as a whole begins so, and ends with a brace. */
const BEGIN = /^\{"at":"[^"]{24}",/;
/** No text contains this: in it, the quotation marks would have a backslash before them. */
const CLUSTER = /"cluster":("(?:[^"\\]|\\.)*")/;

/**
 * The lines of `readLines` before the end of the range that are about these clusters or about the exporter itself, as they were
 * written. The lines of the first day before the range say the state at its beginning.
 */
export async function* selectLines(
  folder: string,
  { clusters, ...range }: Selection,
  onDamaged: (path: string, error: unknown) => void,
): AsyncGenerator<readonly string[]> {
  const end = new Date(range.toMs).toISOString();
  const names = new Set(clusters.map((name) => JSON.stringify(name)));
  function isSelected(line: string): boolean {
    if (!BEGIN.test(line) || !line.endsWith("}") || atOf(line) >= end) return false;
    const [, name] = CLUSTER.exec(line) ?? [];
    return names.size === 0 || name === undefined || names.has(name);
  }
  for await (const lines of readLines(folder, range, onDamaged)) yield lines.filter(isSelected);
}
