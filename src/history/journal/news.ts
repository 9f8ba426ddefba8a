import { atOf, bodyOf, parseRecord, subjectIn, type JournalRecord } from "./record.ts";

/**
 * Returns a function that reads the lines of a journal, oldest first, and returns the record of each line with news. Most lines repeat what
 * is known, since each day begins with the state of everything.
 */
export function createNews(): (line: string) => JournalRecord | undefined {
  const known = new Map<string, string>();
  let latest = "";
  return (line) => {
    const [subject, at, body] = [subjectIn(line), atOf(line), bodyOf(line)];
    const isRepeated = subject !== undefined && known.get(subject) === body;
    const record = isRepeated ? undefined : parseRecord(line);
    // After a gap every line is news.
    const isGap =
      record?.kind === "lost" || (record?.kind === "run" && !(record.why === "day" && at === latest));
    if (isGap) known.clear();
    latest = at;
    if (subject !== undefined && record !== undefined) known.set(subject, body);
    return record;
  };
}
