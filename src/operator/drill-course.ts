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
  /** What the drill watches, as it was before. */
  readonly watched: DrillView;
  /** The incidents from before the drill, by id, with the keys of their subjects. */
  readonly earlier: ReadonlyMap<string, readonly string[]>;
  /** The failovers from before the drill. @see failoverId */
  readonly earlierFailovers: ReadonlySet<string>;
}

/** What is watched of a cluster, as one look found it. */
export interface DrillView {
  readonly groups: readonly WatchedGroup[];
  readonly websites: readonly WatchedWebsite[];
}

interface WatchedGroup extends Named {
  /** The one known MASTER, and whether it is the preferred one. */
  readonly master: string | undefined;
  readonly isPreferredMaster: boolean | undefined;
}

interface WatchedWebsite extends Named {
  readonly state: string;
  /** The appliances that serve it; `undefined` if the exporter does not say so. */
  readonly masters: readonly string[] | undefined;
}

/** One failover of the drill. */
export interface DrillFailover extends Omit<OneFailover, "keys"> {
  /** The keys of its groups. */
  readonly keys: readonly string[];
  /** Its number among the failovers of these members within five minutes, if it is not the first. */
  readonly nth?: number | undefined;
  /** Whether an older exporter has only the instant of the first one and the words of all. */
  readonly isMerged?: boolean;
}

type OneFailover = NonNullable<
  NonNullable<NonNullable<IncidentDocument["failover"]>["repeated"]>["each"]
>[number];

export interface Course {
  readonly drill: Drill;
  /** The instants at which stages were reached, by the clock of the caller. */
  readonly reached: readonly { readonly stage: DrillStage; readonly atMs: number }[];
  /** The instant since which the next stage holds, if it does. */
  readonly holdsSinceMs?: number | undefined;
  /** Says what is missing for the next stage. */
  readonly lacks: string | undefined;
  /** The cluster at the latest look. */
  readonly watched: DrillView;
  /** The times in which a group had no known BACKUP, from the latest look before to the first one after; the last one may go on. */
  readonly bare: readonly { readonly fromMs: number; readonly toMs?: number }[];
  readonly lookedAtMs: number | undefined;
  /** The incidents of the cluster since the drill began, but for failovers, as they were known last, by id. */
  readonly incidents: ReadonlyMap<string, IncidentDocument>;
  /** The failovers since the drill began, as they were known last. @see failoverId */
  readonly failovers: ReadonlyMap<string, DrillFailover>;
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
    watched: watchedIn(cluster),
    earlier: new Map(fleet.incidents.map((each) => [each.id, each.keys ?? []])),
    earlierFailovers: new Set(fleet.incidents.flatMap((each) => failoversOf(each).map(failoverId))),
  };
  const course: Course = {
    drill,
    reached: [],
    lacks: undefined,
    watched: drill.watched,
    bare: [],
    lookedAtMs: undefined,
    incidents: new Map(),
    failovers: new Map(),
  };
  return { ok: true, course };
}

function watchedIn({ groups, websites }: ClusterDocument): DrillView {
  return {
    groups: groups.map((group) => {
      const { master, isPreferredMaster } = group;
      return { ...named(group), master, isPreferredMaster };
    }),
    websites: websites.flatMap(({ name, masters, states }) =>
      states.map(({ key, protocol, state }) => {
        return { key, name: protocol === undefined ? name : `${name} (${protocol})`, state, masters };
      }),
    ),
  };
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
  const { drill } = before;
  const cluster = fleet.clusters.find(({ name }) => name === drill.cluster);
  const own = fleet.incidents.filter((each) => each.cluster === drill.cluster);
  const others = own
    .filter(({ failover }) => failover === undefined)
    .flatMap((each) => sinceThen(each, drill.earlier.get(each.id)));
  const failovers = own
    .flatMap(failoversOf)
    .map((each) => [failoverId(each), each] as const)
    .filter(([id]) => !drill.earlierFailovers.has(id));
  const seen: Course = {
    ...before,
    watched: cluster === undefined ? before.watched : watchedIn(cluster),
    bare: bareAfter(before, cluster, atMs),
    lookedAtMs: atMs,
    incidents: new Map([
      ...before.incidents,
      ...others.map((each) => [each.id, withKeys(each, before)] as const),
    ]),
    failovers: new Map([...before.failovers, ...failovers]),
  };
  return withStages(seen, cluster, atMs);
}

/** Returns the course with the stages that are reached. */
function withStages(before: Course, cluster: ClusterDocument | undefined, atMs: number): Course {
  const { drill, reached, holdsSinceMs = atMs } = before;
  const stage = nextStage(before);
  if (stage === undefined) return before;
  const lacks = lackedBy(stage, drill, cluster);
  if (lacks !== undefined) return { ...before, lacks, holdsSinceMs: undefined };
  if (stage !== "taken_over" && atMs - holdsSinceMs < SETTLED_MS) return { ...before, holdsSinceMs, lacks };
  const next = {
    ...before,
    reached: [...reached, { stage, atMs: holdsSinceMs }],
    lacks,
    holdsSinceMs: undefined,
  };
  return withStages(next, cluster, atMs);
}

/** Returns the times without a known BACKUP after one more look. */
function bareAfter(
  { drill, bare, lookedAtMs }: Course,
  cluster: ClusterDocument | undefined,
  atMs: number,
): Course["bare"] {
  if (cluster === undefined) return bare;
  const known = new Map(cluster.groups.map((group) => [group.key, group]));
  const isBare = drill.groups.some(
    ({ key }) => known.get(key)?.members.some(({ role }) => role === "backup") !== true,
  );
  const last = bare.at(-1);
  const isOpen = last !== undefined && last.toMs === undefined;
  if (isBare === isOpen) return bare;
  if (last !== undefined && isOpen) return [...bare.slice(0, -1), { ...last, toMs: atMs }];
  return [...bare, { fromMs: lookedAtMs ?? atMs }];
}

/** Returns each failover of an incident. An older exporter has only the latest one of those that are repeated. */
function failoversOf({ begin, summary, keys = [], failover }: IncidentDocument): readonly DrillFailover[] {
  if (failover === undefined) return [];
  const { repeated } = failover;
  const { each = [], count = 1 } = repeated ?? {};
  if (each.length > 0)
    return each.map((one, place) => {
      const nth = count - each.length + place + 1;
      return { ...one, keys: one.keys ?? keys, nth: nth > 1 ? nth : undefined };
    });
  const one = { at: begin, summary, ...failover, keys };
  return [count > 1 ? { ...one, nth: count, isMerged: true } : one];
}

/** Returns what identifies a failover, which is first an incident of its own, and later one of several there and back. */
function failoverId({ at, from, to, nth, isMerged = false }: DrillFailover): string {
  return JSON.stringify(isMerged ? [at, from, to, nth] : [at, from, to]);
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
  return { ...incident, keys: incident.keys ?? incidents.get(incident.id)?.keys };
}

/** A website that was down for visitors during the drill, by one protocol. */
export interface DrillOutage {
  readonly website: string;
  /** When the exporter learned that it was down, and that it was not any more. */
  readonly begin: string;
  readonly end?: string | undefined;
  readonly isOver: boolean;
  /** The length of the outage; absent while it is not over, and if its beginning is not known. */
  readonly aboutSeconds?: number | undefined;
  readonly atMostSeconds?: number | undefined;
  readonly isPredicted: boolean;
}

export function outagesIn({ drill, incidents }: Course): readonly DrillOutage[] {
  return [...incidents.values()].flatMap((incident) => {
    const { kind, subjects, keys = [], moreSubjects = 0, begin, end, outages = [] } = incident;
    if (kind !== "website_down") return [];
    const own = subjects.map((website, nth): DrillOutage => {
      const ownKeys = keys.slice(nth, nth + 1);
      const outage = outages.find(({ key }) => ownKeys.includes(key));
      const { aboutSeconds, atMostSeconds } = outage ?? {};
      const times = { begin: outage?.begin ?? begin, end: outage?.end ?? end, aboutSeconds, atMostSeconds };
      const isOver = times.end !== undefined;
      return { website, ...times, isOver, isPredicted: isPredicted(drill, ownKeys, true) };
    });
    const { outageAboutSeconds: aboutSeconds, outageAtMostSeconds: atMostSeconds } = incident;
    const left = keys.slice(subjects.length);
    const more: DrillOutage = {
      website: `${moreSubjects} more websites`,
      begin,
      end,
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

/** An incident of the cluster that began during the drill, but for failovers. */
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

function isExpected(incident: IncidentDocument, { drill, failovers }: Course): boolean {
  const { kind, keys = [], isPlanned } = incident;
  if (kind === "split_brain") return false;
  if (isPlanned === true || isPredicted(drill, keys, kind.startsWith("website"))) return true;
  const own = [...failovers.values()].filter(({ from, to }) => [from, to].includes(drill.appliance));
  return kind === "no_master" && own.some((each) => isBefore(incident, each));
}

/** Whether groups had no master until they failed over. */
function isBefore({ begin, end, keys = [] }: IncidentDocument, failover: DrillFailover): boolean {
  return (
    end !== undefined &&
    keys.length > 0 &&
    Date.parse(begin) <= Date.parse(failover.at) &&
    keys.every((key) => failover.keys.includes(key))
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
