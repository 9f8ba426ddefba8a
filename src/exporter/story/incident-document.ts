import type { Instant } from "../../support/clock.ts";
import { count, listed } from "../../support/text.ts";
import type { FailoverFacts, Incident, Repeated } from "./incident.ts";
import type { IncidentDocument, KnownIncident } from "../document/schema.ts";
import { INCIDENTS } from "../judge/states.ts";
import { instantOf, shortened } from "../judge/words.ts";

/** The most subjects that an incident names; it counts the others. */
const NAMED = 24;
/** The most keys: an outlook names 50 risks, each of at most two protocols. */
const KEYS = 100;
/** The most groups that the sentence about a failover names; of more it has only the number of addresses. */
const NAMED_GROUPS = 2;

/** Returns the JSON of an incident, without other incidents at the same time. */
export function incidentDocument(incident: Incident): KnownIncident {
  const { id, kind, cluster, begin, end, subjects, failover, restored } = incident;
  if (restored !== undefined) return { ...restored, end: end && instantOf(end.wallMs) };
  const names = subjects.map(({ name }) => name);
  return {
    id,
    kind,
    severity: INCIDENTS[kind],
    cluster,
    begin: instantOf(begin.wallMs),
    end: end && instantOf(end.wallMs),
    summary: shortened(
      failover === undefined ? troubleSentence(incident) : failoverSentence(incident, failover),
    ),
    subjects: names.slice(0, NAMED),
    moreSubjects: names.length > NAMED ? names.length - NAMED : undefined,
    ...outageSeconds(incident),
    failover: failover && failoverDocument(failover, begin),
  };
}

/** Returns the keys of the subjects; `undefined` for an incident of an earlier run, whose document says only names. */
export function incidentKeys({ subjects, restored }: Incident): string[] | undefined {
  return restored === undefined ? subjects.slice(0, KEYS).map(({ key }) => key) : undefined;
}

function troubleSentence({ words, subjects }: Incident): string {
  return words.join(
    listed(
      subjects.slice(0, NAMED).map(({ name }) => name),
      NAMED,
      subjects.length,
    ),
  );
}

/** Returns `b took over 12 addresses of ams from a, which stopped answering (timeout). No known master for at most 5 s.` */
function failoverSentence(
  { cluster, subjects }: Incident,
  { latest, addresses, repeated }: FailoverFacts,
): string {
  const { from, to, clause, withoutMaster } = latest;
  const withoutMasterMs = withoutMaster?.atMostMs ?? 0;
  const names = subjects.map(({ name }) => name);
  const what = `${names.length > NAMED_GROUPS ? count(addresses, "address", "addresses") : listed(names)} of ${cluster}`;
  if (repeated !== undefined)
    return `${to} and ${from} took over ${what} from each other ${repetition(repeated, latest.seenMs)}`;
  const without = withoutMasterMs === 0 ? "" : `. No known master for at most ${atMost(withoutMasterMs)}`;
  return `${to} took over ${what} from ${from}${clause}${without}`;
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

/** Returns the longest outage of all websites of an incident that is over. */
function outageSeconds({
  kind,
  subjects,
  end,
  endAboutMs,
}: Incident): Pick<KnownIncident, "outageAboutSeconds" | "outageAtMostSeconds"> {
  const known = subjects.flatMap(({ lastUp }) => lastUp ?? []);
  if (
    kind !== "website_down" ||
    end === undefined ||
    endAboutMs === undefined ||
    known.length < subjects.length
  )
    return {};
  const beginMs = Math.min(...known.map(({ sentMs }) => sentMs));
  const beginAboutMs = Math.min(...known.map(({ aboutMs }) => aboutMs));
  return {
    outageAboutSeconds: seconds(Math.max(0, endAboutMs - beginAboutMs)),
    outageAtMostSeconds: seconds(end.monotonicMs - beginMs),
  };
}

function seconds(ms: number): number {
  return Math.ceil(ms) / 1000;
}

function failoverDocument(
  { latest, addresses, repeated }: FailoverFacts,
  begin: Instant,
): IncidentDocument["failover"] {
  const { from, to, cause, evidence, isPartial, withoutMaster, seenMs } = latest;
  const { aboutMs, atMostMs } = withoutMaster ?? {};
  const wallAt = (ms: number): string => instantOf(Math.round(begin.wallMs + ms - begin.monotonicMs));
  return {
    from,
    to,
    cause,
    evidence: evidence.map(({ appliance, said, atMs }) => ({ appliance, said, at: wallAt(atMs) })),
    withoutMasterAboutSeconds: aboutMs && seconds(aboutMs),
    withoutMasterAtMostSeconds: atMostMs && seconds(atMostMs),
    addresses,
    isPartial,
    repeated: repeated && {
      count: repeated.count,
      periodSeconds: seconds(periodMs(repeated, seenMs)),
      letsGo: lettingGo(repeated),
      includes: repeated.includes,
    },
  };
}
