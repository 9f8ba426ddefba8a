import type { FleetDocument } from "../../../status/schema.ts";
import { eventKey } from "./events.ts";
import { problemKey } from "./problems.ts";
import { SENTENCE_LENGTH, shortened } from "./shortened.ts";
import { verdictOf } from "./verdict.ts";
import { count, distinct } from "./words.ts";

/** More than these are not listened to. */
const TOLD_AT_ONCE = 4;
/** Their events are told as problems that came or went. */
const TOLD_AS_PROBLEMS: ReadonlySet<string> = new Set(["outage", "recovery"]);

/** What is different, in sentences to be read out: the verdict first; none where nothing is. */
export function describeChanges(before: FleetDocument, after: FleetDocument): readonly string[] {
  const [was, is] = [verdictOf(before), verdictOf(after)];
  const changes = [...eventsSince(before, after), ...problemsSince(before, after)];
  const others = changes.length - TOLD_AT_ONCE;
  return [
    ...(was.headline === is.headline ? [] : [is.headline]),
    ...changes.slice(0, TOLD_AT_ONCE).map((change) => shortened(change, SENTENCE_LENGTH)),
    ...(others > 0 ? [count(others, "more change")] : []),
  ];
}

function eventsSince(before: FleetDocument, after: FleetDocument): readonly string[] {
  const known = new Set(before.events.map(eventKey));
  return after.events
    .filter((event) => !TOLD_AS_PROBLEMS.has(event.kind) && !known.has(eventKey(event)))
    .map(({ summary }) => summary);
}

function problemsSince(before: FleetDocument, after: FleetDocument): readonly string[] {
  const [was, is] = [before, after].map(
    ({ problems }) => new Map(problems.map((problem) => [problemKey(problem), problem.summary])),
  );
  const came = [...(is ?? [])].filter(([key]) => was?.has(key) === false).map(([, summary]) => summary);
  const went = [...(was ?? [])].filter(([key]) => is?.has(key) === false).map(([, summary]) => summary);
  return distinct([...came, ...went.map((summary) => `No longer: ${summary}`)]);
}
