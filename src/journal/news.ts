import { atOf, bodyOf, isSubject, parseRecord, subjectKey, type JournalRecord } from "./record.ts";

/**
 * Returns a function that reads the lines of a journal, oldest first, and returns the record of one that says something new. Most
 * lines say again what is known: each day begins with the state of everything.
 */
export function createNews(): (line: string) => JournalRecord | undefined {
  const byKey = new Map<string, string>();
  const known = new Set<string>();
  let latest = "";
  return (line) => {
    const [at, body] = [atOf(line), bodyOf(line)];
    const isRepeated = known.has(body);
    const record = isRepeated ? undefined : parseRecord(line);
    // Behind a gap everything is new.
    const isGap =
      record?.kind === "lost" || (record?.kind === "run" && !(record.why === "day" && at === latest));
    if (isGap) known.clear();
    latest = at;
    if (record === undefined || !isSubject(record)) return record;
    const key = subjectKey(record);
    known.delete(byKey.get(key) ?? "");
    byKey.set(key, body);
    known.add(body);
    return record;
  };
}
