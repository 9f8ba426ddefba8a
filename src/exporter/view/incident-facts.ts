import { atMost } from "../story/incident-document.ts";
import type { IncidentDocument } from "../document/schema.ts";
import type { Cause } from "../judge/states.ts";
import type { Tone } from "./row.ts";
import { absoluteTime, formatSeconds, lasted } from "./time.ts";
import { inWords } from "./words.ts";

/** Whether an incident has this id, or includes the incident that had it. */
export function hasId({ id, failover }: IncidentDocument, wanted: string): boolean {
  return id === wanted || failover?.repeated?.includes === wanted;
}

/** Returns `not over`, or `over after 3 min`. */
export function incidentState({ begin, end }: Pick<IncidentDocument, "begin" | "end">): string {
  if (end === undefined) return "not over";
  const lastedMs = Date.parse(end) - Date.parse(begin);
  return lastedMs < 1000 ? "over at once" : `over after ${lasted(lastedMs)}`;
}

/** Returns how urgent an incident is now. An incident that is over is not urgent, and one that is planned says so. */
export function incidentLevel({
  severity,
  isPlanned = false,
  end,
}: Pick<IncidentDocument, "severity" | "isPlanned" | "end">): Tone {
  if (isPlanned) return "planned";
  return end === undefined ? severity : "well";
}

/** Returns how severe an incident is, or was. */
export function severityWords({
  severity,
  isPlanned = false,
}: Pick<IncidentDocument, "severity" | "isPlanned">): string {
  return isPlanned ? "Planned" : inWords(severity);
}

/** A title with one fact or more. */
type IncidentFact = readonly [title: string, ...facts: readonly string[]];

/** Returns the facts of an incident, without other incidents at the same time. */
export function incidentFacts(incident: IncidentDocument): readonly IncidentFact[] {
  const { end, subjects, moreSubjects, failover } = incident;
  const more = moreSubjects === undefined ? [] : [`${moreSubjects} more`];
  const all: readonly IncidentFact[] = [
    ["Concerns", ...subjects, ...more],
    ...(failover === undefined ? [] : failoverFacts(failover)),
    ["Down", ...outageFacts(incident)],
    [
      "Over",
      ...(end === undefined ? [] : [absoluteTime(end)]),
      ...(failover === undefined ? [] : [COMPLETE]),
    ],
  ];
  return all.filter(([, ...facts]) => facts.length > 0);
}

/** Returns how long websites were down; of several, each with its name. */
function outageFacts({ subjects, outages = [], outageAtMostSeconds }: IncidentDocument): readonly string[] {
  if (subjects.length < 2 || outages.length === 0) return atMostSeconds(outageAtMostSeconds);
  return outages.flatMap(({ subject, atMostSeconds: most }) =>
    atMostSeconds(most).map((time) => `${subject} ${time}`),
  );
}

/** While the failover is not over, this text says what is missing. */
const COMPLETE = "when each group has one master and a known backup";

const CAUSES: Readonly<Record<Cause, string>> = {
  fault: "the former master reported neither MASTER nor BACKUP, or no longer listed the address",
  silent: "the former master stopped answering, as after a crash, a reset or a cut of its management network",
  priority: "the new master came to have the higher priority",
  preempted: "the new master has the higher priority, and was silent or had a fault before",
  stepped_down:
    "the former master reports BACKUP, as after a failover by hand, a restart of its daemon or a fault shorter than a poll",
  unknown: "polls have no evidence",
};

type IncidentFailover = NonNullable<IncidentDocument["failover"]>;

/** All but the first fact of a repeated failover describe the latest failover. */
function failoverFacts(failover: IncidentFailover): readonly IncidentFact[] {
  const { from, to, cause, evidence, withoutMasterAtMostSeconds, isPartial, repeated } = failover;
  return [
    ["Repeated", ...(repeated === undefined ? [] : repetition(repeated))],
    ["From", from],
    ["To", to],
    ["Cause", `${inWords(cause)}: ${CAUSES[cause]}`],
    ["Evidence", ...evidence.map(({ appliance, said, at }) => `${absoluteTime(at)}: ${appliance} ${said}`)],
    ["No known master", ...atMostSeconds(withoutMasterAtMostSeconds)],
    ["Other groups", ...(isPartial ? [`${from} remained MASTER of others`] : [])],
  ];
}

function repetition({
  count,
  periodSeconds,
  letsGo,
}: NonNullable<IncidentFailover["repeated"]>): readonly string[] {
  const who = letsGo === undefined ? [] : [`${letsGo} lets go most often`];
  return [`${count} times, on average every ${formatSeconds(periodSeconds)}`, ...who];
}

function atMostSeconds(seconds: number | undefined): readonly string[] {
  return seconds === undefined ? [] : [`for at most ${atMost(seconds * 1000)}`];
}
