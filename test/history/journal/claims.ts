import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { FleetDocument } from "../../../src/exporter/document/schema.ts";
import type { Moment, Truth } from "./random-fleet.ts";

/** A record of a journal, read by nothing of the program. */
export interface Line {
  readonly at: string;
  readonly kind: string;
  readonly cluster: string;
  readonly why?: string;
  readonly state?: string | undefined;
  readonly since?: string | undefined;
  readonly master?: string | undefined;
  readonly appliance?: string;
  readonly id?: number;
  readonly protocol?: string;
  readonly incident?: { readonly id: string; readonly begin: string; readonly end?: string };
}

/** That a subject was in a state for a time. Instants are Unix times in milliseconds. */
export interface Claim {
  readonly line: Line;
  readonly fromMs: number;
  readonly toMs: number;
}

/** A time, in Unix milliseconds. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The complete lines of all day files, oldest first; none without a folder. Throws where one is not JSON. */
export function readJournal(folder: string): readonly Line[] {
  return (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => /^\d{4}-\d\d-\d\d\.jsonl(\.gz)?$/.test(name))
    .toSorted()
    .flatMap((name) => {
      const bytes = readFileSync(join(folder, name));
      const text = (name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
      return text.split("\n").slice(0, -1);
    })
    .map((line): Line => JSON.parse(line));
}

export function subjectOf({ kind, cluster, appliance, id, protocol }: Line): string {
  return [kind, cluster, appliance, id, protocol].join(" ");
}

/** What a line says of a subject, but for the time. */
export function statedIn(line: Line): string {
  return [subjectOf(line), line.state, line.master].join(" ");
}

/** What the lines claim of each subject: a state lasts until the subject's next line, a break, or the end. */
export function claimsIn(lines: readonly Line[]): readonly Claim[] {
  const claims: Claim[] = [];
  const open = new Map<string, Line>();
  let latest = lines[0]?.at ?? "";
  const close = (line: Line, to: string): void => {
    if (line.at < to) claims.push({ line, fromMs: Date.parse(line.at), toMs: Date.parse(to) });
  };
  for (const line of lines) {
    if (line.kind === "run" && line.why !== "day") {
      for (const each of open.values()) close(each, latest);
      open.clear();
    }
    latest = line.at;
    if (!["group", "website", "appliance", "cluster"].includes(line.kind)) continue;
    const before = open.get(subjectOf(line));
    if (before !== undefined) close(before, line.at);
    open.set(subjectOf(line), line);
  }
  for (const each of open.values()) close(each, latest);
  return claims;
}

/** The parts of a time, longer than polls may take to find out, in which the truth contradicts a state. */
export function contradicted(line: Line, span: Span, truth: Truth, latencyMs: number): readonly Span[] {
  const moments = truth.get(line.cluster) ?? [];
  const agreeing = moments.flatMap((moment, nth): readonly Span[] => {
    const toMs = moments[nth + 1]?.atMs ?? Number.POSITIVE_INFINITY;
    return agrees(line, moment) ? [{ fromMs: moment.atMs, toMs }] : [];
  });
  return without(span, agreeing).filter(({ fromMs, toMs }) => toMs - fromMs > latencyMs);
}

/** The parts of a time that no span covers. The spans are in the order of their beginnings. */
export function without({ fromMs, toMs }: Span, spans: readonly Span[]): readonly Span[] {
  const rest: Span[] = [];
  let beginMs = fromMs;
  for (const span of spans) {
    if (span.fromMs > beginMs) rest.push({ fromMs: beginMs, toMs: Math.min(span.fromMs, toMs) });
    beginMs = Math.max(beginMs, span.toMs);
    if (beginMs >= toMs) return rest.filter((each) => each.fromMs < each.toMs);
  }
  return [...rest, { fromMs: beginMs, toMs }].filter((each) => each.fromMs < each.toMs);
}

/** Whether polls at that moment find the state, or the state says nothing. */
function agrees(line: Line, { masters, answering, upIds }: Moment): boolean {
  const known = masters.filter((name) => answering.includes(name));
  switch (line.state) {
    case undefined:
    case "unknown":
    case "changing":
    case "gone":
      return true;
    case "split_brain":
      return known.length === 2;
    case "no_master":
      return known.length === 0 && answering.length === 2;
    case "one_master":
    case "no_backup":
    case "backup_lost":
    case "backup_unknown":
      return known.length === 1 && line.master?.endsWith(`-${known[0]}`) === true;
    case "dark":
      return answering.length === 0;
    case "degraded":
      return answering.length === 1;
    case "unstable":
    case "partially_down":
      return answering.length > 0 && upIds.includes(line.id ?? 0);
    case "up":
    case "down":
    case "down_at_master":
      return agreesOn(line, { answering, upIds });
    default:
      throw new Error(`the truth knows no state ${line.state}`);
  }
}

function agreesOn(
  { kind, state, appliance = "", id = 0 }: Line,
  { answering, upIds }: Pick<Moment, "answering" | "upIds">,
): boolean {
  if (kind === "cluster") return answering.length === 2;
  if (kind === "appliance")
    return (state === "up") === answering.some((name) => appliance.endsWith(`-${name}`));
  return answering.length > 0 && (state === "up") === upIds.includes(id);
}

/** What a fleet document says of the states of the same subjects. */
export function linesOf({ clusters }: FleetDocument): readonly Line[] {
  return clusters.flatMap(({ name: cluster, state, groups, websites, appliances }): readonly Line[] => [
    { at: "", kind: "cluster", cluster, state },
    ...groups.map((group): Line => ({
      at: "",
      kind: "group",
      cluster,
      ...pick(group),
      master: group.master,
    })),
    ...appliances.map((each): Line => {
      return { at: "", kind: "appliance", cluster, appliance: each.name, ...pick(each) };
    }),
    ...websites.flatMap(({ id, states }) =>
      states.map((each): Line => ({
        at: "",
        kind: "website",
        cluster,
        id,
        protocol: each.protocol ?? "",
        ...pick(each),
      })),
    ),
  ]);
}

function pick({ state, since }: Pick<Line, "state" | "since">): Pick<Line, "state" | "since"> {
  return { state, since };
}
