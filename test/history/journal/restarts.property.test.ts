import * as fc from "fast-check";
import { expect, test } from "vitest";
import { bandOf } from "../../../src/history/journal/bands.ts";
import { dayOf } from "../../../src/history/journal/day-files.ts";
import { createFold } from "../../../src/history/journal/fold.ts";
import {
  isSubject,
  parseRecord,
  subjectKey,
  type JournalRecord,
} from "../../../src/history/journal/record.ts";
import { answersIn, pendingIn } from "../../../src/exporter/fleet/snapshot.ts";
import type { ClusterVerdict, GroupVerdict } from "../../../src/exporter/judge/verdict.ts";
import { groupBy } from "../../../src/support/group-by.ts";
import { MEMBER_A, MEMBER_B, MEMBER_C } from "../../exporter/fleet/support.ts";
import { websiteOf } from "../../support/observations.ts";
import { folderPath, linesIn, startRun, storageAt } from "./support.ts";

/** With `RESTARTS=2000` there are so many courses, and with `SEED=7` other ones. */
const COURSES = Number(process.env["RESTARTS"] ?? 25);
const SEED = Number(process.env["SEED"] ?? 1);
/** Two minutes before midnight. */
const BEGIN_MS = Date.parse("2026-11-26T23:58:00.000Z");
const STEP_MS = 4000;

const SHOP = websiteOf({ id: 2, name: "shop", protocols: ["https"] });
const TRIO = [MEMBER_A, MEMBER_B, MEMBER_C];
const CONFIGS = [TRIO.slice(0, 2), TRIO].flatMap((members) => [
  members,
  members.map((each) => ({ ...each, websites: [SHOP] })),
]);
const WELL = ["a MASTER", "b BACKUP", "c BACKUP", "a 200", "b 200", "c 200"];

/** What happens, with the place of the configuration that follows. Negative: the clock was set back while the exporter was away. */
type Action =
  | { readonly kind: "poll"; readonly polls: readonly string[] }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "kill"; readonly awayMs: number; readonly config: number }
  | { readonly kind: "reload"; readonly config: number };

const config = fc.nat({ max: CONFIGS.length - 1 });
const SAYS = [
  "MASTER",
  "BACKUP",
  "BACKUP",
  "nothing",
  "silent",
  "refuses",
  "FAULT",
  "200",
  "503",
  "untested",
];
const poll = fc
  .tuple(fc.constantFrom("a", "b", "c"), fc.constantFrom(...SAYS))
  .map(([name, says]) => [`${name} ${says}`]);
const round = fc.constantFrom(
  ["a MASTER", "b BACKUP", "c BACKUP"],
  ["b MASTER", "a BACKUP", "c BACKUP"],
  ["c MASTER", "a BACKUP", "b BACKUP"],
  ["a 200", "b 200", "c 200"],
  ["a 503", "b 503", "c 503"],
);
const AWAY_MS = [0, 2000, 10_000, 60_000, 1_800_000, 4_000_000, -3000, -600_000, -7_200_000];
const awayMs = fc.constantFrom(...AWAY_MS);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("poll"), polls: poll }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("poll"), polls: round }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("wait"), ms: fc.constantFrom(1000, 4000, 9000, 30_000) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("kill"), awayMs, config }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("reload"), config }) },
);

/** A subject as it was judged at an instant. */
interface Seen {
  readonly kind: "appliance" | "group" | "website" | "readiness";
  readonly state: string | undefined;
  readonly sinceMs: number | undefined;
  readonly master?: string | undefined;
}

/** What was judged at an instant of a run, by `subjectKey`. */
interface Sample {
  readonly run: number;
  readonly atMs: number;
  /** Whether the VRRP list of every member was polled, and whether everything was. */
  readonly areListed: boolean;
  readonly isPolled: boolean;
  readonly seen: ReadonlyMap<string, Seen>;
}

interface RunOf {
  readonly beginMs: number;
  /** The first and the latest mark. */
  firstMs: number;
  lastMs: number;
  /** Each subject with each state that it had at any time. */
  states: ReadonlySet<string>;
}

function seenIn(verdict: ClusterVerdict): Sample["seen"] {
  const {
    facts: { cluster },
    appliances,
    groups,
    websites,
    readiness,
  } = verdict;
  return new Map<string, Seen>([
    ...Array.from(appliances.values(), ({ identity: { appliance }, state, sinceMs }) => {
      const seen: Seen = { kind: "appliance", state, sinceMs };
      return [JSON.stringify(["appliance", cluster, appliance]), seen] as const;
    }),
    ...Array.from(readiness.values(), ({ identity: { appliance }, state, sinceMs }) => {
      const seen: Seen = { kind: "readiness", state, sinceMs };
      return [JSON.stringify(["readiness", cluster, appliance]), seen] as const;
    }),
    ...Array.from(groups.values(), ({ facts: { vhid, vip }, state, sinceMs, master }) => {
      const seen: Seen = { kind: "group", state, sinceMs, master };
      return [JSON.stringify(["group", cluster, vhid, vip]), seen] as const;
    }),
    ...[...websites.values()].flatMap(({ websiteId, website, states }) =>
      states.map(({ protocol, state, sinceMs }) => {
        const seen: Seen = { kind: "website", state, sinceMs };
        return [JSON.stringify(["website", cluster, websiteId, website, protocol]), seen] as const;
      }),
    ),
  ]);
}

/** Plays a course until all is well and known, and returns what was said wrongly. */
async function wrongIn(actions: readonly Action[], firstConfig: number): Promise<readonly string[]> {
  const storage = storageAt(await folderPath());
  const wrong: string[] = [];
  const [samples, runs]: [Sample[], RunOf[]] = [[], []];
  let current = firstConfig;
  let [run, now] = await begin(BEGIN_MS);
  let [nowMs, dueMs] = [0, STEP_MS];
  let atMark: ReadonlyMap<string, string> = new Map();
  let group: GroupVerdict | undefined;
  let watch = createWatch(undefined, new Map());
  let wasForgotten = false;

  async function begin(beginMs: number): Promise<[Awaited<ReturnType<typeof startRun>>, RunOf]> {
    const begun = { beginMs, firstMs: Infinity, lastMs: -Infinity, states: new Set<string>() };
    runs.push(begun);
    return [await startRun(storage, { members: CONFIGS[current] ?? [], beginMs }), begun];
  }

  async function told(): Promise<ReadonlyMap<string, string>> {
    const { incidents } = await run.document();
    return new Map(
      incidents.map(({ id, kind, begin: from, end, summary }) => [
        id,
        `${kind}: ${summary}, ${from}-${end ?? ""}`,
      ]),
    );
  }

  async function sample(): Promise<ClusterVerdict | undefined> {
    const [verdict] = await run.verdicts();
    if (verdict === undefined) return undefined;
    wrong.push(...watch(verdict, await told()));
    const { facts } = verdict;
    const areListed = facts.appliances.every(({ vrrp }) => vrrp.health.state !== "pending");
    const isPolled = pendingIn(facts).length === 0;
    const [nth, atMs] = [runs.length - 1, now.beginMs + nowMs];
    samples.push({ run: nth, atMs, areListed, isPolled, seen: seenIn(verdict) });
    return verdict;
  }

  async function pass(ms: number): Promise<void> {
    const untilMs = nowMs + ms;
    for (; dueMs <= untilMs; dueMs += STEP_MS) {
      nowMs = dueMs;
      await run.step(nowMs / 1000);
      now.lastMs = now.beginMs + nowMs;
      now.firstMs = Math.min(now.firstMs, now.lastMs);
      const verdict = await sample();
      const [known] = [...(verdict?.groups.values() ?? [])];
      if (known?.state !== undefined) group = known;
      if (run.records.findLast((each) => each.kind === "group")?.state === "gone") group = undefined;
      atMark = await told();
    }
    nowMs = untilMs;
  }

  async function polled(words: string, afterMs: number): Promise<void> {
    await pass(afterMs);
    run.poll(`${words} ${(nowMs - 50) / 1000} ${nowMs / 1000}`);
    await sample();
  }

  async function stop(): Promise<void> {
    await run.kill();
    now.states = new Set(
      run.records.flatMap((record) =>
        isSubject(record) && record.state !== undefined ? `${subjectKey(record)} ${record.state}` : [],
      ),
    );
  }

  async function restart(away: number, next: number): Promise<void> {
    await stop();
    const wasChanged = next !== current;
    current = next;
    [run, now] = await begin(now.beginMs + nowMs + away);
    [nowMs, dueMs] = [0, STEP_MS];
    const again = await told();
    // Days that are to come are not read.
    const isForgotten = runs.some(
      ({ lastMs, beginMs }) => dayOf(Math.max(lastMs, beginMs)) > dayOf(now.beginMs),
    );
    wasForgotten ||= isForgotten;
    if (isForgotten) group = undefined;
    watch = createWatch(group, again);
    for (const [id, words] of atMark) {
      const after = again.get(id);
      // What the new configuration lacks is over.
      const isSame = after === words || (wasChanged && after?.startsWith(words) === true);
      if (!isSame && !isForgotten) wrong.push(`${words} became ${after}`);
    }
    for (const [id, words] of again)
      if (!atMark.has(id) && !wasForgotten) wrong.push(`new at the start: ${words}`);
    atMark = again;
  }

  for (const one of actions) {
    if (one.kind === "wait") await pass(one.ms);
    else if (one.kind === "kill") await restart(one.awayMs, one.config);
    else if (one.kind === "poll") for (const words of one.polls) await polled(words, 100);
    else {
      // What a reload changes is judged at once, so nothing else is judged at that instant.
      await pass(100);
      current = one.config;
      run.reload(CONFIGS[current] ?? [], nowMs);
      await sample();
    }
  }
  for (const words of [...WELL, ...WELL, ...WELL]) await polled(words, 2000);
  await pass(STEP_MS);
  for (const words of (await told()).values()) if (words.endsWith("-")) wrong.push(`open for ever: ${words}`);
  await stop();
  // While a day is compressed, its lines may be read twice.
  const lines = [...new Set(await linesIn(storage.path))];
  const records = lines.flatMap((line) => parseRecord(line) ?? `unreadable: ${line}`);
  const course = { samples, runs, records: records.filter((each) => typeof each !== "string") };
  wrong.push(...records.filter((each) => typeof each === "string"));
  return [...wrong, ...wrongEnds(course), ...wrongClaims(course), ...wrongBeginnings(course)].slice(0, 5);
}

/**
 * Returns a function that sees all verdicts of a run, with the incidents by id, and says what is wrong of the failovers once all
 * members were polled. `before`: the group as it was known last; `old`: the incidents at the start.
 */
function createWatch(before: GroupVerdict | undefined, old: ReadonlyMap<string, string>) {
  const masters = new Set<string>();
  let isOver = false;
  let wasSplit = before?.trouble === "split_brain";
  return ({ facts, groups }: ClusterVerdict, told: ReadonlyMap<string, string>): readonly string[] => {
    const [group] = [...groups.values()];
    if (group?.master !== undefined) masters.add(group.master);
    wasSplit ||= group?.trouble === "split_brain";
    if (isOver || facts.appliances.some(({ vrrp }) => vrrp.health.state === "pending")) return [];
    isOver = true;
    // A failover that only ended since is not fresh.
    const fresh = [...told].flatMap(([id, words]) =>
      words.startsWith("failover") && !words.startsWith(old.get(id) ?? "fresh") ? words : [],
    );
    const [from, to] = [before?.latestMaster, group?.latestMaster];
    if (before === undefined || from === undefined || masters.size > 1 || wasSplit) return [];
    const isMember = facts.appliances.some(({ identity }) => identity.appliance === from);
    const isMoved = masters.size === 1 && isMember && to !== from;
    const answers = group === undefined || to === undefined ? [] : answersIn(group.facts, to);
    // What the polls of this run have watched did not happen before it.
    const wasAway = answers.every((each) => each.isMaster);
    const expected = `${to} took over 192.0.2.100 (vhid 2) from ${from}`;
    const isTold = (words: string): boolean =>
      words.includes(expected) && words.includes(" while the exporter was away") === wasAway;
    const isTrue = isMoved ? fresh.length === 1 && fresh.every(isTold) : fresh.length === 0;
    return isTrue || (!isMoved && to !== from) ? [] : [`${from} to ${to}, but ${fresh.join()}`];
  };
}

interface Course {
  readonly samples: readonly Sample[];
  readonly runs: readonly RunOf[];
  readonly records: readonly JournalRecord[];
}

/** Trouble ends once. */
function wrongEnds({ records }: Course): readonly string[] {
  const all = records.flatMap((record) => (record.kind === "incident" ? record.incident : []));
  const byId = groupBy(
    all.filter(({ kind }) => kind !== "failover"),
    ({ id }) => id,
  );
  return [...byId.values()].flatMap((told) => {
    const ends = told.slice(told.findIndex(({ end }) => end !== undefined)).map(({ end }) => end);
    const isOver = told.some(({ end }) => end !== undefined);
    return isOver && new Set(ends).size > 1 ? [`ends more than once: ${told[0]?.summary}`] : [];
  });
}

/** The journal says of each instant what was judged then, as long as it had marks, and nothing else. */
function wrongClaims({ samples, runs, records }: Course): readonly string[] {
  const claims: { key: string; state: string | undefined; fromMs: number; toMs: number }[] = [];
  const fold = createFold((record, fromMs, toMs) =>
    claims.push({ key: subjectKey(record), state: record.state, fromMs, toMs }),
  );
  records.forEach((record) => fold.read(record));
  fold.end();
  const byKey = groupBy(claims, ({ key }) => key);
  return samples.flatMap(({ run, atMs, seen }, nth) => {
    const { firstMs = Infinity, lastMs = -Infinity } = runs[run] ?? {};
    const isAgain = samples.some((each) => each.run < run && each.atMs >= atMs);
    const isBefore =
      runs.slice(0, run).every((each) => each.lastMs < atMs) &&
      runs.slice(run + 1).every((each) => each.beginMs > atMs);
    // Of samples of the same instant the last one holds.
    if (isAgain || samples[nth + 1]?.atMs === atMs) return [];
    const isMarked = firstMs <= atMs && atMs < lastMs;
    return [...seen].flatMap(([key, { kind, state }]) => {
      const claim = byKey.get(key)?.find(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs);
      const band = bandOf({ kind, state });
      const isLost = claim === undefined && isMarked && band !== "unknown";
      const isFalse = claim !== undefined && claim.state !== state && (isMarked || isBefore);
      const isBehind = claim !== undefined && atMs > lastMs && isBefore;
      if (band === "changing" || !(isLost || isFalse || isBehind)) return [];
      return [`run ${run}, ${secondOf(atMs)}: ${key} is ${state}, the journal says ${claim?.state}`];
    });
  });
}

/** A state began neither after it was seen, nor while another one was known, nor at an instant that nobody saw. */
function wrongBeginnings({ samples, runs }: Course): readonly string[] {
  const wasSetBack = runs.some(
    ({ beginMs }, nth) => beginMs < (samples.findLast(({ run }) => run < nth)?.atMs ?? 0),
  );
  return samples.flatMap(({ run, atMs, seen }, nth) =>
    [...seen].flatMap(([key, { kind, state, sinceMs, master }]) => {
      if (sinceMs === undefined || state === undefined) return [];
      const isLike = (each: Seen | undefined): boolean => each?.state === state && each.master === master;
      const before = samples.slice(0, nth);
      const other = before.findLast((each) => {
        const was = each.seen.get(key);
        const isKnown = each.run === run || each.atMs <= (runs[each.run]?.lastMs ?? -Infinity);
        const isUnknown = was?.state === undefined || isEarly(was, each);
        return isKnown && !isUnknown && !isLike(was);
      });
      const last = before.findLastIndex((each) => each.run !== run || !isLike(each.seen.get(key)));
      const isFirst = [...(runs[run]?.states ?? [])].every(
        (each) => !each.startsWith(`${key} `) || each === `${key} ${state}`,
      );
      const isWrong =
        sinceMs > atMs ||
        ((kind === "appliance" || kind === "website") && isFirst && sinceMs >= (runs[run]?.beginMs ?? 0)) ||
        (!wasSetBack && sinceMs < (other?.atMs ?? 0)) ||
        (!wasSetBack && sinceMs > (samples[last + 1]?.atMs ?? Infinity));
      return isWrong ? [`run ${run}, ${secondOf(atMs)}: ${key} ${state} since ${secondOf(sinceMs)}`] : [];
    }),
  );
}

/** Whether a subject may have been judged so because polls had not ended yet. */
function isEarly({ kind, state }: Seen, { areListed, isPolled }: Sample): boolean {
  if (kind === "readiness") return !isPolled;
  return kind !== "appliance" && OPEN.has(state) && !areListed;
}

/** In these states a member that was not polled yet may be the backup, or the master. */
const OPEN: ReadonlySet<string | undefined> = new Set(["unknown", "backup_unknown", "backup_lost"]);

function secondOf(ms: number): number {
  return (ms - BEGIN_MS) / 1000;
}

/** As long as other tests have for the default number of courses. */
const TIMEOUT_MS = 5000 * COURSES;

test("what is known over restarts is true", { timeout: TIMEOUT_MS }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 30 }), config, async (actions, first) => {
      expect(await wrongIn(actions, first)).toEqual([]);
    }),
    { numRuns: COURSES, seed: SEED },
  );
});
