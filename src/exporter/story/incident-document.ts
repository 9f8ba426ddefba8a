import { count, listed, wordsFor } from "../../support/text.ts";
import type { Evidence } from "./failover-cause.ts";
import type {
  Causes,
  Failover,
  FailoverFacts,
  Incident,
  IncidentSubject,
  Repeated,
  Return,
} from "./incident.ts";
import type { IncidentDocument, KnownIncident } from "../document/schema.ts";
import { INCIDENTS } from "../judge/states.ts";
import { subjectKeys } from "../judge/subjects.ts";
import { instantOf, optionalInstant, shortened, vipsNamed } from "../judge/words.ts";
import { secondInUtc } from "../../support/time-zone.ts";

/** The most subjects that an incident names; it counts the others. */
const NAMED = 24;
/** The most keys: the readiness of an appliance names 50 risks, each of at most two protocols. */
const KEYS = 100;
/** The most causes of a failover that its sentence has. */
const NAMED_CAUSES = 6;

/** Returns the JSON of an incident, without other incidents at the same time. */
export function incidentDocument(incident: Incident): KnownIncident {
  const { id, kind, cluster, begin, end, subjects, failover, restored } = incident;
  const isPlanned = incident.isPlanned || undefined;
  if (restored !== undefined) return { ...restored, isPlanned, end: end && instantOf(end.wallMs) };
  const names = subjects.map(({ name }) => name);
  return {
    id,
    kind,
    severity: INCIDENTS[kind],
    isPlanned,
    cluster,
    begin: instantOf(begin.wallMs),
    end: end && instantOf(end.wallMs),
    summary: shortened(
      failover === undefined ? troubleSentence(incident) : failoverSentence(incident, failover),
    ),
    subjects: names.slice(0, NAMED),
    moreSubjects: names.length > NAMED ? names.length - NAMED : undefined,
    ...outageSeconds(incident),
    outages: outagesIn(incident),
    failover: failover && failoverDocument(failover, incident),
  };
}

/** Returns the keys of the subjects; `undefined` for an incident of an earlier run, whose document says only names. */
export function incidentKeys({ subjects, restored }: Incident): string[] | undefined {
  return restored === undefined ? subjects.slice(0, KEYS).map(({ key }) => key) : undefined;
}

function troubleSentence({ words, subjects }: Incident): string {
  const names = subjects.slice(0, NAMED).map(({ name }) => name);
  return wordsFor(words, countOf(subjects)).join(listed(names, NAMED, subjects.length));
}

/** Returns the number of subjects; a website is one, by however many protocols. */
function countOf(subjects: Incident["subjects"]): number {
  return new Set(subjects.map(({ key, website }) => website?.address ?? key)).size;
}

/**
 * Returns `b took over 12 addresses from a, which stopped answering (timeout). No known master for at most 5 s.` With several causes,
 * each has its groups: `b took over v from a, which reported FAULT; and w, as a stepped down`.
 */
function failoverSentence({ subjects }: Incident, { latest, repeated, returns }: FailoverFacts): string {
  const { from, to } = latest;
  if (repeated !== undefined)
    return `${to} and ${from} took over ${groupWords(subjects)} from each other ${repetition(repeated, latest.seenMs)}`;
  return (returns && returnSentence(latest, subjects, returns)) ?? ownSentence(latest, subjects);
}

/**
 * Returns `192.0.2.100 (vhid 2) is back on a (b stepped down, no known master for at most 6 s). The failover of 04:19:00 UTC is over`;
 * `undefined` unless all groups of that failover came back, for one reason.
 */
function returnSentence(
  { to, causes: [{ clauseApart }, ...others], withoutMaster, groups: own }: Failover,
  subjects: Incident["subjects"],
  { seenWallMs, groups }: Return,
): string | undefined {
  const isWhole = own.size === groups.size && [...groups].every((key) => own.has(key));
  if (!isWhole || others.length > 0) return undefined;
  const facts = [clauseApart.replace(/^[,;]? (?:as )?/, ""), withoutWords("no", withoutMaster)].filter(
    Boolean,
  );
  const how = facts.length === 0 ? "" : ` (${facts.join(", ")})`;
  const verb = subjects.length > 1 ? "are" : "is";
  return `${groupWords(subjects)} ${verb} back on ${to}${how}. The failover of ${secondInUtc(seenWallMs)} is over`;
}

function withoutWords(no: "No" | "no", withoutMaster: Failover["withoutMaster"]): string {
  const { atMostMs = 0 } = withoutMaster ?? {};
  return atMostMs === 0 ? "" : `${no} known master for at most ${atMost(atMostMs)}`;
}

/** Returns the sentence of one failover. */
function ownSentence({ from, to, causes, withoutMaster }: Failover, subjects: Incident["subjects"]): string {
  const without = withoutWords("No", withoutMaster);
  const byKey = new Map(subjects.map((each) => [each.key, each]));
  // A group may be gone meanwhile.
  const parts = causes.flatMap(({ groups, ...cause }) => {
    const own = Array.from(groups, subjectKeys.group).flatMap((key) => byKey.get(key) ?? []);
    return own.length === 0 ? [] : { own, cause };
  });
  const [first = { own: subjects, cause: causes[0] }, ...others] = parts;
  const more = others.slice(NAMED_CAUSES - 1).flatMap(({ own }) => own);
  const clauses = [
    ...others
      .slice(0, NAMED_CAUSES - 1)
      .map(({ own, cause }) => `; and ${groupWords(own)}${cause.clauseApart}`),
    ...(more.length === 0 ? [] : [`; and ${addressCount(more)} for other reasons`]),
  ];
  return `${to} took over ${groupWords(first.own)} from ${from}${first.cause.clause}${clauses.join("")}${without && `. ${without}`}`;
}

/** Returns `192.0.2.100 (vhid 2) and 2 more VIPs`. */
function groupWords(subjects: readonly IncidentSubject[]): string {
  return vipsNamed(subjects.map(({ name }) => name));
}

function addressCount(subjects: readonly IncidentSubject[]): string {
  return count(addressesOf(subjects), "address", "addresses");
}

function addressesOf(subjects: readonly IncidentSubject[]): number {
  return new Set(subjects.flatMap(({ hosts = [] }) => hosts)).size;
}

/** Returns `7 times, about every 20 s: a lets go most often`. */
function repetition(repeated: Repeated, lastMs: number): string {
  const letsGo = lettingGo(repeated);
  const every = Math.round(periodMs(repeated, lastMs) / 1000);
  return `${repeated.count} times, about every ${every} s${letsGo === undefined ? "" : `: ${letsGo} lets go most often`}`;
}

function periodMs({ count: number, firstMs }: Repeated, lastMs: number): number {
  return (lastMs - firstMs) / (number - 1);
}

/** Returns the member that let go most often, unless another one did as often. */
function lettingGo({ letGo }: Repeated): string | undefined {
  const [first, second] = Object.entries(letGo).toSorted(([, one], [, other]) => other - one);
  return first?.[1] === second?.[1] ? undefined : first?.[0];
}

/** Returns a duration that is not exceeded: `5 s`, from two minutes on `3 min`. */
export function atMost(ms: number): string {
  const rounded = Math.ceil(ms / 1000);
  return rounded < 120 ? `${rounded} s` : `${Math.ceil(rounded / 60)} min`;
}

type WebsiteOutage = NonNullable<KnownIncident["outages"]>[number];

/** Returns the longest outage of a website of an incident that is over, if the outage of each is known. */
function outageSeconds({
  kind,
  subjects,
  end,
}: Incident): Pick<KnownIncident, "outageAboutSeconds" | "outageAtMostSeconds"> {
  const known = subjects.flatMap((each) => timesOf(each) ?? []);
  if (kind !== "website_down" || end === undefined || known.length < subjects.length) return {};
  return {
    outageAboutSeconds: Math.max(...known.map(({ aboutSeconds }) => aboutSeconds)),
    outageAtMostSeconds: Math.max(...known.map(({ atMostSeconds }) => atMostSeconds)),
  };
}

/** Returns the outages of the named websites that are over; `undefined` if none is. */
function outagesIn({ kind, subjects }: Incident): WebsiteOutage[] | undefined {
  if (kind !== "website_down") return undefined;
  const outages = subjects.slice(0, NAMED).flatMap((subject): readonly WebsiteOutage[] => {
    const { key, name, over, beganMs } = subject;
    if (over === undefined) return [];
    const begin = optionalInstant(beganMs);
    return [{ key, subject: name, begin, end: instantOf(over.end.wallMs), ...timesOf(subject) }];
  });
  return outages.length === 0 ? undefined : outages;
}

/** Returns how long a website was down; `undefined` while it is, and if nobody knows when it was last up, or whether it is up again. */
function timesOf({ lastUp, over }: IncidentSubject) {
  if (lastUp === undefined || over === undefined) return undefined;
  return {
    aboutSeconds: seconds(Math.max(0, over.aboutMs - lastUp.aboutMs)),
    atMostSeconds: seconds(over.reachedMs - lastUp.sentMs),
  };
}

function seconds(ms: number): number {
  return Math.ceil(ms) / 1000;
}

/** Returns the reports of all causes, each once, oldest first. */
function evidenceOf(causes: Causes): readonly Evidence[] {
  const all = causes.flatMap(({ evidence }) => evidence);
  const distinct = new Map(all.map((each) => [JSON.stringify(each), each]));
  return [...distinct.values()].toSorted((one, other) => one.atMs - other.atMs).slice(0, NAMED);
}

function failoverDocument(
  { latest, repeated }: FailoverFacts,
  incident: Incident,
): IncidentDocument["failover"] {
  const { begin, subjects } = incident;
  const { causes, seenMs } = latest;
  const wallAt = (ms: number): string => instantOf(Math.round(begin.wallMs + ms - begin.monotonicMs));
  const { from, to, cause, ...others } = ownFacts(latest, subjects);
  return {
    from,
    to,
    cause,
    evidence: evidenceOf(causes).map(({ appliance, said, atMs }) => ({ appliance, said, at: wallAt(atMs) })),
    ...others,
    repeated: repeated && {
      count: repeated.count,
      planned: repeated.plannedBefore + Number(incident.isPlanned),
      periodSeconds: seconds(periodMs(repeated, seenMs)),
      letsGo: lettingGo(repeated),
      includes: repeated.includes,
      each: repeated.each.map(({ failover, seenWallMs }) => {
        const keys = Array.from(failover.groups.keys(), subjectKeys.group);
        const own = subjects.filter(({ key }) => keys.includes(key));
        const summary = shortened(ownSentence(failover, own));
        const at = instantOf(seenWallMs);
        const isAll = own.length === subjects.length;
        return { at, summary, ...ownFacts(failover, own), keys: isAll ? undefined : keys.slice(0, KEYS) };
      }),
    },
  };
}

/** Returns what is said of each failover, whether or not it is repeated. */
function ownFacts({ from, to, causes, isPartial, withoutMaster }: Failover, subjects: Incident["subjects"]) {
  const { aboutMs, atMostMs } = withoutMaster ?? {};
  return {
    from,
    to,
    cause: causes[0].cause,
    withoutMasterAboutSeconds: aboutMs && seconds(aboutMs),
    withoutMasterAtMostSeconds: atMostMs && seconds(atMostMs),
    addresses: addressesOf(subjects),
    isPartial,
  };
}
