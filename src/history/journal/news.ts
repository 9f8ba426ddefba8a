import { bodyOf, endsKnowledge, parseRecord, subjectIn, type JournalRecord } from "./record.ts";

/** The most subjects whose lines are compared; with more, all are news again. An appliance may invent them for weeks. */
const MOST_SUBJECTS = 2 ** 18;

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
    if (known.size > MOST_SUBJECTS) known.clear();
    return record;
  };
}
