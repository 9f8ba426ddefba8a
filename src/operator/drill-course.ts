import type {
  ClusterDocument,
  ReadinessDocument,
  FleetDocument,
  GroupDocument,
  IncidentDocument,
} from "../exporter/document/schema.ts";
import { groupName, mastersInWords, NAMED } from "../exporter/judge/words.ts";
import { listed } from "../support/text.ts";
import { answersOf } from "./answers.ts";

/** The stages that a drill waits for, in this order. */
export type DrillStage = "taken_over" | "complete" | "back";

/** A group by its key. */
interface Named {
  readonly key: string | undefined;
  readonly name: string;
}

/** The plan of a drill, which rehearses the loss of an appliance. */
export interface Drill {
  readonly appliance: string;
  readonly cluster: string;
  readonly readiness: ReadinessDocument;
  /** The groups of which the appliance is MASTER. */
  readonly own: readonly Named[];
  /**
   * The appliance's groups, and all others that have one MASTER and a known BACKUP. The cluster is complete when these groups have both
   * again.
   */
  readonly groups: readonly Named[];
  readonly stages: readonly DrillStage[];
  /** The incidents from before the drill; the keys are those of `failoverKey`. */
  readonly earlier: ReadonlyMap<string, readonly string[]>;
}

export interface Course {
  readonly drill: Drill;
  /** The instants at which stages were reached, by the clock of the caller. */
  readonly reached: readonly { readonly stage: DrillStage; readonly atMs: number }[];
  /** The instant since which the next stage holds, if it does. */
  readonly holdsSinceMs?: number | undefined;
  /** Says what is missing for the next stage. */
  readonly lacks: string | undefined;
  /** The incidents of the cluster since the drill began, as they were known last; the keys are those of `failoverKey`. */
  readonly incidents: ReadonlyMap<string, IncidentDocument>;
}

/** The reason why a drill cannot begin. `losses` are known, and the operator has to accept them. */
interface DrillRefusal {
  readonly ok: false;
  readonly reason: "losses" | "unknown";
  readonly message: string;
}

/** A cluster is complete only after this time, since tests of websites show by then whether a website was down. */
const SETTLED_MS = 5000;

/** Plans the drill of an appliance. */
export function planDrill(
  fleet: FleetDocument,
  appliance: string,
  {
    isBothWays,
    acceptsLosses,
    despite = [],
  }: {
    readonly isBothWays: boolean;
    readonly acceptsLosses: boolean;
    /** The ids of windows on other members that do not prevent it. */
    readonly despite?: readonly string[] | undefined;
  },
): { readonly ok: true; readonly course: Course } | DrillRefusal {
  const refused = (reason: DrillRefusal["reason"], message: string) =>
    ({ ok: false, reason, message }) as const;
  const cluster = fleet.clusters.find(({ appliances }) => appliances.some(({ name }) => name === appliance));
  if (cluster === undefined) return refused("unknown", `the exporter has no appliance ${appliance}`);
  const readiness = cluster.appliances.find(({ name }) => name === appliance)?.failover;
  const answer = answersOf([cluster], [appliance], despite).find((each) => each.appliance === appliance);
  if (answer === undefined || answer.verdict === "unknown")
    return refused("unknown", answer?.summary ?? `nothing is known of ${appliance}`);
  if (readiness === undefined)
    return refused("unknown", `${appliance} is MASTER of nothing: there is no failover to rehearse`);
  if (answer.apart !== undefined) {
    const flags = answer.apart.windows.map((id) => `--despite=${id}`).join(" ");
    return refused("losses", `${answer.summary}; wait for its end, or begin with ${flags}`);
  }
  if (answer.verdict === "not_ready" && !acceptsLosses)
    return refused("losses", `${answer.summary}; --accept-losses rehearses it nevertheless`);
  const own = cluster.groups.filter(({ master }) => master === appliance);
  const groups = cluster.groups.filter((group) => own.includes(group) || isComplete(group));
  const drill: Drill = {
    appliance,
    cluster: cluster.name,
    readiness,
    own: own.map(named),
    groups: groups.map(named),
    stages: ["taken_over", "complete", ...(isBothWays ? (["back"] as const) : [])],
    earlier: new Map(fleet.incidents.map((each) => [failoverKey(each), each.keys ?? []])),
  };
  return { ok: true, course: { drill, reached: [], lacks: undefined, incidents: new Map() } };
}

function named(group: GroupDocument): Named {
  return { key: group.key, name: groupName(group) };
}

/** Returns the stage that the drill waits for; `undefined` when it is over. */
export function nextStage({ drill, reached }: Course): DrillStage | undefined {
  return drill.stages[reached.length];
}

/** Returns the course after one more look at the fleet. */
export function courseAfter(before: Course, fleet: FleetDocument, atMs: number): Course {
  const { drill, reached, holdsSinceMs = atMs } = before;
  const ofDrill = fleet.incidents
    .filter(({ cluster: name }) => name === drill.cluster)
    .flatMap((each) => sinceThen(each, drill.earlier.get(failoverKey(each))));
  const incidents = new Map([
    ...before.incidents,
    ...ofDrill.map((each) => [failoverKey(each), withKeys(each, before)] as const),
  ]);
  const stage = nextStage(before);
  if (stage === undefined) return { ...before, incidents };
  const cluster = fleet.clusters.find(({ name }) => name === drill.cluster);
  const lacks = lackedBy(stage, drill, cluster);
  if (lacks !== undefined) return { drill, reached, lacks, incidents };
  if (stage !== "taken_over" && atMs - holdsSinceMs < SETTLED_MS)
    return { drill, reached, holdsSinceMs, lacks, incidents };
  const next = { drill, reached: [...reached, { stage, atMs: holdsSinceMs }], lacks, incidents };
  return courseAfter(next, fleet, atMs);
}

function lackedBy(
  stage: DrillStage,
  { appliance, own, groups }: Drill,
  cluster: ClusterDocument | undefined,
): string | undefined {
  const known = new Map(cluster?.groups.map((group) => [group.key, group]));
  const lacking = (all: readonly Named[], isFine: (group: GroupDocument) => boolean): string => {
    const those = all.filter(({ key }) => {
      const group = known.get(key);
      return group === undefined || !isFine(group);
    });
    const names = those.map(({ key, name }) => `${name}${severalMasters(known.get(key))}`);
    return names.length === 0 ? "" : listed(names, NAMED);
  };
  if (stage === "taken_over") {
    const kept = lacking(own, ({ master }) => master !== undefined && master !== appliance);
    return kept === "" ? undefined : `no other appliance is the known MASTER of ${kept}`;
  }
  const away = stage === "back" ? lacking(own, ({ master }) => master === appliance) : "";
  if (away !== "") return `${appliance} is not MASTER again of ${away}`;
  const incomplete = lacking(groups, isComplete);
  return incomplete === "" ? undefined : `not one MASTER and a known BACKUP: ${incomplete}`;
}

/** Returns ` (2 masters: a, b)`, where a group has them. */
function severalMasters(group: GroupDocument | undefined): string {
  return group?.masters === undefined ? "" : ` (${mastersInWords(group.masters)})`;
}

/** Returns an incident with the subjects that it did not have `earlier`; none if it has no other one. */
function sinceThen(
  incident: IncidentDocument,
  earlier: readonly string[] | undefined,
): readonly IncidentDocument[] {
  if (earlier === undefined) return [incident];
  const isNew = (key: string | undefined): boolean => key !== undefined && !earlier.includes(key);
  const { keys = [], subjects, moreSubjects = 0 } = incident;
  const mine = subjects.filter((_, nth) => isNew(keys[nth]));
  const own = keys.filter(isNew);
  const more = Math.min(moreSubjects, own.length - mine.length);
  return own.length === 0
    ? []
    : [{ ...incident, keys: own, subjects: mine, moreSubjects: more || undefined }];
}

function isComplete({ state, members }: GroupDocument): boolean {
  return state === "one_master" && members.some(({ role }) => role === "backup");
}

/** Returns an incident with the keys that it had at an earlier look: an exporter that started meanwhile does not know them any more. */
function withKeys(incident: IncidentDocument, { incidents }: Course): IncidentDocument {
  return { ...incident, keys: incident.keys ?? incidents.get(failoverKey(incident))?.keys };
}

/** Returns what identifies an incident, or its latest failover if members take over from each other again and again. */
function failoverKey({ id, failover }: IncidentDocument): string {
  return `${id} ${failover?.repeated?.count ?? 1}`;
}

/** A website that was down for visitors during the drill, by one protocol. */
export interface DrillOutage {
  readonly website: string;
  readonly isOver: boolean;
  /** The length of the outage; absent while it is not over, and if its beginning is not known. */
  readonly aboutSeconds?: number | undefined;
  readonly atMostSeconds?: number | undefined;
  readonly isPredicted: boolean;
}

export function outagesIn({ drill, incidents }: Course): readonly DrillOutage[] {
  return [...incidents.values()].flatMap((incident) => {
    const { kind, subjects, keys = [], moreSubjects = 0, end, outages = [] } = incident;
    if (kind !== "website_down") return [];
    const own = subjects.map((website, nth): DrillOutage => {
      const ownKeys = keys.slice(nth, nth + 1);
      const outage = outages.find(({ key }) => ownKeys.includes(key));
      const { aboutSeconds, atMostSeconds } = outage ?? {};
      const isOver = end !== undefined || outage !== undefined;
      return { website, isOver, aboutSeconds, atMostSeconds, isPredicted: isPredicted(drill, ownKeys, true) };
    });
    const { outageAboutSeconds: aboutSeconds, outageAtMostSeconds: atMostSeconds } = incident;
    const left = keys.slice(subjects.length);
    const more: DrillOutage = {
      website: `${moreSubjects} more websites`,
      isOver: end !== undefined,
      aboutSeconds,
      atMostSeconds,
      isPredicted: isPredicted(drill, left, true, moreSubjects),
    };
    return moreSubjects === 0 ? own : [...own, more];
  });
}

/** Whether the readiness before has predicted trouble of so many subjects, which have these keys: their loss or outage, or any outage, of websites. */
function isPredicted(
  { readiness: { risks } }: Drill,
  keys: readonly string[],
  areWebsites: boolean,
  count = Math.max(1, keys.length),
): boolean {
  const harmful = risks.filter(({ effect }) => effect === "loss" || effect === "outage");
  const predicted = new Set(harmful.flatMap(({ keys: own = [] }) => own));
  const isOutage = areWebsites && risks.some(({ effect }) => effect === "outage");
  return isOutage || (keys.length === count && keys.every((key) => predicted.has(key)));
}

/** An incident of the cluster that began during the drill. */
export interface DrillIncident extends Pick<
  IncidentDocument,
  "kind" | "begin" | "end" | "severity" | "summary"
> {
  /** Whether it follows from the work or the failover that is rehearsed, or was predicted. */
  readonly isExpected: boolean;
}

export function incidentsIn(course: Course): readonly DrillIncident[] {
  return Array.from(course.incidents.values(), (incident) => {
    const { kind, begin, end, severity, summary } = incident;
    return { kind, begin, end, severity, summary, isExpected: isExpected(incident, course) };
  });
}

function isExpected(incident: IncidentDocument, { drill, incidents }: Course): boolean {
  const { kind, keys = [], isPlanned, failover } = incident;
  if (kind === "split_brain") return false;
  if (isPlanned === true || isPredicted(drill, keys, kind.startsWith("website"))) return true;
  const isOwn = (each: IncidentDocument["failover"]): boolean =>
    each?.from === drill.appliance || each?.to === drill.appliance;
  if (failover !== undefined) return isOwn(failover);
  const failovers = [...incidents.values()].filter((each) => isOwn(each.failover));
  return kind === "no_master" && failovers.some((each) => isBefore(incident, each));
}

/** Whether groups had no master until they failed over. */
function isBefore({ begin, end, keys = [] }: IncidentDocument, failover: IncidentDocument): boolean {
  return (
    end !== undefined &&
    keys.length > 0 &&
    Date.parse(begin) <= Date.parse(failover.begin) &&
    keys.every((key) => failover.keys?.includes(key) === true)
  );
}

/** The way in which a drill ended: its stages were reached, its window was over first, the exporter stopped answering, or a signal came. */
export type Ending = "done" | "window_over" | "exporter_lost" | "interrupted";

const INCOMPLETE: Readonly<Record<Ending, string | undefined>> = {
  done: undefined,
  window_over: "the window was over first",
  exporter_lost: "the exporter stopped answering",
  interrupted: "the drill was interrupted",
};

export interface DrillVerdict {
  readonly verdict: "pass" | "fail" | "incomplete";
  /** The reasons of the verdict as sentences; empty for a pass. */
  readonly reasons: readonly string[];
}

/**
 * Judges a drill, which passes if its stages were reached in time, without an outage that was not predicted and without another critical
 * incident of the cluster that neither follows from the work nor was predicted.
 */
export function verdictOn(course: Course, ending: Ending): DrillVerdict {
  const { lacks } = course;
  const early = INCOMPLETE[ending];
  const unpredicted = outagesIn(course).filter((each) => !each.isPredicted);
  const unexpected = incidentsIn(course).filter(
    (each) => each.severity === "critical" && !each.isExpected && each.kind !== "website_down",
  );
  const reasons = [
    ...(early === undefined ? [] : [lacks === undefined ? early : `${early}: ${lacks}`]),
    ...unexpected.map(({ summary }) => summary),
    ...unpredicted.map((outage) => `${outageWords(outage)}, which was not predicted`),
  ];
  if (ending === "exporter_lost" || ending === "interrupted") return { verdict: "incomplete", reasons };
  return { verdict: reasons.length === 0 ? "pass" : "fail", reasons };
}

/** Returns `shop (https) was down for about 11.3 s, at most 12 s`. */
export function outageWords({ website, isOver, aboutSeconds, atMostSeconds }: DrillOutage): string {
  if (!isOver) return `${website} is down`;
  const time = atMostSeconds === undefined ? "" : ` for ${timeWords(aboutSeconds, atMostSeconds)}`;
  return `${website} was down${time}`;
}

/** Returns `about 11.3 s, at most 12 s`. */
export function timeWords(aboutSeconds: number | undefined, atMostSeconds: number): string {
  const about = aboutSeconds === undefined ? "" : `about ${aboutSeconds.toFixed(1)} s, `;
  return `${about}at most ${Math.ceil(atMostSeconds)} s`;
}
