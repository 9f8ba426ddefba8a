import { z } from "zod";
import { windowDocument, windowSchema } from "../../exporter/maintenance/request.ts";
import type { MaintenanceWindow } from "../../exporter/maintenance/window.ts";
import { knownIncident } from "../../exporter/document/schema.ts";
import { instantOf } from "../../exporter/judge/words.ts";

/** The version of the records' format. A reader of an earlier version skips unknown parts. */
export const VERSION = 1;

/** Every line begins with this text, and with an instant of this length. */
const BEGIN = '{"at":"';
const AT_LENGTH = 24;
/** The end of the longest kind in a line. */
const MAX_KIND = 80;

const at = z.string().length(AT_LENGTH).describe("RFC 3339 in UTC, with milliseconds");

/**
 * The begin of a run. After a start or a gap, nothing is known of a subject until its next record; so it is for a reason that this version
 * does not know, and for `damage`, which a reader puts in the place of lines that cannot be read. A new day continues the time before, and
 * the state of everything follows with the same instant.
 */
const run = z.object({
  at,
  kind: z.literal("run"),
  v: z.int(),
  why: z.enum(["start", "day", "gap", "damage"]).catch("gap"),
  left: z.int().optional().describe("how many records of the run before were left out; absent if none"),
  version: z.string().optional(),
  shard: z.string().optional(),
});

/** `state` has the words of the metrics. It is absent while nothing is judged, and `gone` if there is no such subject any more. */
const subject = { at, cluster: z.string(), state: z.string().optional(), since: z.string().optional() };

/** Whether a window mutes the alert about the subject; absent if not. */
const isPlanned = z.boolean().optional();

const group = z.object({
  ...subject,
  kind: z.literal("group"),
  vhid: z.int(),
  vip: z.string(),
  interface: z
    .string()
    .optional()
    .describe("absent unless several groups have this VHID and VIP, one on each link"),
  master: z.string().optional(),
  latestMaster: z.string().optional().describe("absent where it is the master"),
  isPreferredMaster: z.boolean().optional(),
  trouble: z
    .string()
    .optional()
    .describe("the latest state that is a problem, until it is over; absent where it is the state"),
  isPlanned,
});

const website = z.object({
  ...subject,
  kind: z.literal("website"),
  id: z.int(),
  name: z.string(),
  protocol: z.enum(["http", "https", ""]),
  address: z.string(),
  shown: z
    .string()
    .optional()
    .describe("the latest state that follows from nothing else; absent where it is the state"),
  isPlanned,
});

/** The labels of the configuration; absent if there are none. */
const labels = z.record(z.string(), z.string()).optional();
const appliance = z.object({ ...subject, kind: z.literal("appliance"), appliance: z.string(), labels });
/** `worst` is the worst band of the cluster's groups and websites; `labels` are those that all members share, if there are any. */
const cluster = z.object({
  ...subject,
  kind: z.literal("cluster"),
  worst: z.string().optional(),
  labels,
});
/** The verdict on the failover that would follow if the appliance, a MASTER, stopped. */
const readiness = z.object({ ...subject, kind: z.literal("readiness"), appliance: z.string() });

/** `open` has the subjects that are still in the incident; absent when it is over. */
const incident = z.object({
  at,
  kind: z.literal("incident"),
  cluster: z.string(),
  incident: knownIncident,
  open: z.array(z.string()).optional(),
});

const reload = z.object({ at, kind: z.literal("reload"), ok: z.boolean() });
/** A window of planned work that began, or whose end has changed. One of the configuration has no `by`. */
const window = z.object({ at, kind: z.literal("window"), ...windowSchema.shape });
/** After this record nothing more is known of a cluster until the next run, since the cluster changed too often. */
const lost = z.object({ at, kind: z.literal("lost"), cluster: z.string() });
/** The mark that everything was judged until this instant. */
const alive = z.object({ at, kind: z.literal("alive") });

const subjects = [group, website, appliance, cluster, readiness] as const;
const schema = z.discriminatedUnion("kind", [run, ...subjects, incident, window, reload, lost, alive]);

export type JournalRecord = z.infer<typeof schema>;
export type RunRecord = z.infer<typeof run>;
export type SubjectRecord = z.infer<(typeof subjects)[number]>;
export type IncidentRecord = z.infer<typeof incident>;
export type WindowRecord = z.infer<typeof window>;

/**
 * Returns the record in a line of `readLines`; `undefined` for a kind that this version does not know. Where it does not understand a line
 * about states, nothing is known of them any more, as after `damage`.
 */
export function parseRecord(line: string): JournalRecord | undefined {
  const { data } = schema.safeParse(parsed(line));
  if (data !== undefined || !STATE_KINDS.has(kindOf(line))) return data;
  return { at: atOf(line), kind: "run", v: VERSION, why: "damage" };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Whether nothing is known of the states before a record: of all, or, after `lost`, of those of a cluster. */
export function endsKnowledge(record: JournalRecord): boolean {
  return record.kind === "lost" || (record.kind === "run" && record.why !== "day");
}

/** Returns the line of a record, without a line break. */
export function formatRecord(record: JournalRecord): string {
  return JSON.stringify(record);
}

export function windowRecord(given: MaintenanceWindow, atMs: number): WindowRecord {
  return { at: instantOf(atMs), kind: "window", ...windowDocument(given) };
}

/** Returns the instant of a line, which can be compared as text. */
export function atOf(line: string): string {
  return line.slice(BEGIN.length, BEGIN.length + AT_LENGTH);
}

const KIND = /^","kind":"(\w+)"/;

/** Returns the kind of a line's record; empty if the line does not begin as those of `formatRecord`. */
export function kindOf(line: string): string {
  return line.startsWith(BEGIN) ? (KIND.exec(line.slice(BEGIN.length + AT_LENGTH, MAX_KIND))?.[1] ?? "") : "";
}

/** Returns the line with another instant. */
export function withAt(line: string, instant: string): string {
  return `${BEGIN}${instant}${bodyOf(line)}`;
}

/** Returns the line without its instant. */
export function bodyOf(line: string): string {
  return line.slice(BEGIN.length + AT_LENGTH);
}

const TEXT = String.raw`"(?:[^"\\\0-\x1f]|\\["\\/bfnrt]|\\u[\da-fA-F]{4})*"`;
const SUBJECTS = [
  `"kind":"cluster","cluster":${TEXT}`,
  `"kind":"(?:appliance|readiness)","cluster":${TEXT},"appliance":${TEXT}`,
  String.raw`"kind":"group","cluster":${TEXT},"vhid":\d+,"vip":${TEXT}(?:,"interface":${TEXT})?`,
  String.raw`"kind":"website","cluster":${TEXT},"id":\d+,"name":${TEXT},"protocol":${TEXT}`,
];
const SUBJECT_LINE = new RegExp(String.raw`^\{"at":"[^"]{24}",(${SUBJECTS.join("|")})(?:,.*)?\}$`);

const CLUSTER = new RegExp(`"cluster":(${TEXT})`);

/**
 * Returns the part of a line that identifies its subject; `undefined` if there is none, or if the line does not have the format of
 * `formatRecord`. Parsing the record would take ten times as long.
 */
export function subjectIn(line: string): string | undefined {
  return SUBJECT_LINE.exec(line)?.[1];
}

/** Returns the name of the cluster in a line that `formatRecord` wrote. */
export function clusterIn(line: string): string {
  return String(JSON.parse(CLUSTER.exec(line)?.[1] ?? '""'));
}

const subjectKinds: ReadonlySet<string> = new Set(subjects.map(({ shape }) => shape.kind.value));
/** The kinds of lines that say which states are known. */
const STATE_KINDS: ReadonlySet<string> = new Set([...subjectKinds, "run", "lost", "alive"]);
const kinds: ReadonlySet<string> = new Set(schema.options.map(({ shape }) => shape.kind.value));

export function isKnownKind(kind: string): boolean {
  return kinds.has(kind);
}

export function isSubject(record: JournalRecord): record is SubjectRecord {
  return subjectKinds.has(record.kind);
}

/** The identity of a subject, with the same fields as the labels in the metrics. */
export type RecordSubject =
  | Pick<z.infer<typeof group>, "kind" | "cluster" | "vhid" | "vip" | "interface">
  | Pick<z.infer<typeof website>, "kind" | "cluster" | "id" | "name" | "protocol">
  | Pick<z.infer<typeof appliance> | z.infer<typeof readiness>, "kind" | "cluster" | "appliance">
  | Pick<z.infer<typeof cluster>, "kind" | "cluster">;

/** Returns a text that is unique among the subjects of all clusters. */
export function subjectKey(one: RecordSubject): string {
  const { kind, cluster: of } = one;
  if (kind === "group") {
    const { vhid, vip, interface: name } = one;
    return JSON.stringify([kind, of, vhid, vip, ...(name === undefined ? [] : [name])]);
  }
  if (kind === "website") return JSON.stringify([kind, of, one.id, one.name, one.protocol]);
  return JSON.stringify([kind, of, kind === "cluster" ? "" : one.appliance]);
}
