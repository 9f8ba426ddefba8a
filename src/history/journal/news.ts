import { bodyOf, endsKnowledge, parseRecord, subjectIn, type JournalRecord } from "./record.ts";

/**
 * Returns a function that reads the lines of a journal, oldest first, and returns the record of each line with news. Most lines repeat what
 * is known, since each day begins with the state of everything.
 */
export function createNews(): (line: string) => JournalRecord | undefined {
  const known = new Map<string, string>();
  return (line) => {
    const [subject, body] = [subjectIn(line), bodyOf(line)];
    if (subject !== undefined && known.get(subject) === body) return undefined;
    const record = parseRecord(line);
    // Behind a gap every line is news.
    if (record !== undefined && endsKnowledge(record)) known.clear();
    else if (subject !== undefined && record !== undefined) known.set(subject, body);
    return record;
  };
}
