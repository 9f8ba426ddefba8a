import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { createFold } from "../../../src/history/journal/fold.ts";
import { parseRecord } from "../../../src/history/journal/record.ts";
import type { FleetDocument } from "../../../src/exporter/document/schema.ts";
import { groupBy } from "../../../src/support/group-by.ts";
import { spawnProgram } from "../../faults/program.ts";
import { test, type Stage } from "../../faults/stage.ts";
import { eventually } from "../../support/eventually.ts";
import { closedPort } from "../../support/fault-server.ts";
import {
  claimsIn,
  contradicted,
  linesOf,
  readJournal,
  statedIn,
  subjectOf,
  without,
  type Line,
  type Span,
} from "./claims.ts";
import { startRandomFleet, type Truth } from "./random-fleet.ts";

/** A hundred: `JOURNAL_KILLS=100 npx vitest run --project extra --testTimeout 1400000 test/journal/kill`. */
const KILLS = Number(process.env["JOURNAL_KILLS"] ?? 8);
const EVERY_SECOND = { interval: "1s", timeout: "1s" };
/**
 * For so long a state may be shown that is true no more: two tests in a row have to find a website down, and each result counts for
 * three seconds.
 */
const LATENCY_MS = 10_000;
/** A kill loses what was judged in this time before it. */
const LOST_MS = 5_000;
const LOOK_MS = 300;

/** What the exporter showed. Instants are Unix times in milliseconds. */
interface Look {
  readonly askedMs: number;
  readonly answeredMs: number;
  readonly document: FleetDocument;
}

/** The exporter from a start to SIGKILL. */
interface Life {
  /** `undefined` if it was killed before. */
  readonly servesAtMs: number | undefined;
  readonly killedAtMs: number;
  readonly looks: readonly Look[];
  /** What the journal has since the start. */
  readonly lines: readonly Line[];
}

test(`the exporter is killed ${KILLS} times at random: its journal claims nothing that was not true, lacks five seconds at most, and a start restores the rest`, async ({
  stage,
}) => {
  const fleet = await startRandomFleet({ pairs: 8, websites: 3 });
  stage.cleanUp(fleet.stop);
  const polling = { vrrp: EVERY_SECOND, websites: EVERY_SECOND };
  const folder = await stage.folder({ config: { polling, clusters: fleet.clusters } });
  const journal = join(folder, "journal");
  const lives: Life[] = [];
  let lines: readonly Line[] = [];
  for (let nth = 1; nth <= KILLS; nth += 1) {
    const run = await runUntilKill(folder, stage, nth % 3 === 0);
    const now = readJournal(journal);
    // Nothing that was written is ever written again.
    expect(now.slice(0, lines.length)).toEqual(lines);
    lives.push({ ...run, lines: now.slice(lines.length) });
    lines = now;
    expect(faultsOf(lives, fleet.truth).slice(0, 3)).toEqual([]);
  }
  expect(knownBetween(lives, lines)).toEqual([]);
});

/** `isEarly`: it is killed while it starts. */
async function runUntilKill(folder: string, stage: Stage, isEarly: boolean): Promise<Omit<Life, "lines">> {
  const address = `127.0.0.1:${await closedPort()}`;
  const url = `http://${address}`;
  const { child, exit } = spawnProgram(folder, address, { args: ["--storage.path=journal"] });
  stage.cleanUp(() => child.kill("SIGKILL"));
  const looks: Look[] = [];
  let servesAtMs: number | undefined;
  if (isEarly) await delay(Math.random() * 1500);
  else {
    looks.push(await eventually(() => look(url)));
    servesAtMs = Date.now();
    const endMs = servesAtMs + 2000 + Math.random() * 10_000;
    while (Date.now() < endMs) {
      looks.push(await look(url));
      await delay(Math.random() * LOOK_MS);
    }
  }
  const killedAtMs = Date.now();
  child.kill("SIGKILL");
  await exit;
  return { servesAtMs, killedAtMs, looks };
}

async function look(url: string): Promise<Look> {
  const askedMs = Date.now();
  const response = await fetch(`${url}/api/v1/fleet`);
  const document: FleetDocument = JSON.parse(await response.text());
  return { askedMs, answeredMs: Date.now(), document };
}

/** What is wrong with the last of these lives. */
function faultsOf(lives: readonly Life[], truth: Truth): readonly unknown[] {
  const [life, ...earlier] = lives.toReversed();
  if (life === undefined) return [];
  // Those that ended during the start have lost nothing.
  const before = earlier.find(({ looks }) => looks.length > 0);
  return [
    ...lossesOf(life),
    ...falseClaimsOf(life, truth),
    ...unrecordedOf(life),
    ...falseBeginningsOf(life, lives, truth),
    ...(before === undefined ? [] : notRestored(life, before, truth)),
  ];
}

/** The instant until which everything was judged; NaN if nothing was written. */
function endOf({ lines }: Life): number {
  return Date.parse(lines.at(-1)?.at ?? "");
}

function lossesOf(life: Life): readonly unknown[] {
  const { lines, looks, servesAtMs = Number.POSITIVE_INFINITY, killedAtMs } = life;
  const [first] = lines;
  // On a busy machine answers are late, and so are marks.
  const longestMs = Math.max(0, ...looks.map(({ askedMs, answeredMs }) => answeredMs - askedMs));
  const endMs = endOf(life) || servesAtMs;
  const lostMs = killedAtMs - Math.max(endMs, servesAtMs);
  return [
    ...(first === undefined || first.why === "start" ? [] : [{ first }]),
    ...(lostMs > LOST_MS + longestMs ? [{ lostMs }] : []),
    ...(endOf(life) > killedAtMs ? [{ endMs, killedAtMs }] : []),
  ];
}

function falseClaimsOf({ lines }: Life, truth: Truth): readonly unknown[] {
  return claimsIn(lines).flatMap(({ line, ...span }) =>
    contradicted(line, span, truth, LATENCY_MS).map((part) => ({ line, part })),
  );
}

/** What was shown, and is not claimed at that time. */
function unrecordedOf(life: Life): readonly unknown[] {
  const [beginMs, endMs] = [Date.parse(life.lines[0]?.at ?? ""), endOf(life)];
  const claims = groupBy(claimsIn(life.lines), ({ line }) => statedIn(line));
  return life.looks
    .filter(({ askedMs, answeredMs }) => askedMs >= beginMs && answeredMs < endMs)
    .flatMap(({ askedMs, answeredMs, document }) =>
      linesOf(document)
        .filter((shown) => shown.state !== undefined)
        .filter((shown) =>
          (claims.get(statedIn(shown)) ?? []).every(
            ({ fromMs, toMs }) => fromMs > answeredMs || toMs < askedMs,
          ),
        )
        .map((shown) => ({ shown, askedMs })),
    );
}

/** The states that were shown to last since an instant, and did not all the time that the exporter watched. */
function falseBeginningsOf({ looks }: Life, lives: readonly Life[], truth: Truth): readonly unknown[] {
  const away = lives.slice(0, -1).map(({ killedAtMs }, nth): Span => {
    const next = lives.slice(nth + 1).find(({ servesAtMs }) => servesAtMs !== undefined);
    return { fromMs: killedAtMs, toMs: (next?.servesAtMs ?? Number.POSITIVE_INFINITY) + LATENCY_MS };
  });
  return looks.flatMap(({ document, answeredMs }) =>
    linesOf(document).flatMap((line) => {
      if (line.since === undefined) return [];
      const watched = without({ fromMs: Date.parse(line.since), toMs: answeredMs }, away);
      const parts = watched.flatMap((span) => contradicted(line, span, truth, LATENCY_MS));
      return parts.map((part) => ({ line, part }));
    }),
  );
}

/** Compares what was shown last before a kill, unless the kill may have lost it, with what is shown last after it. */
function notRestored(life: Life, earlier: Life, truth: Truth): readonly unknown[] {
  const now = life.looks.findLast(isComplete);
  const before = earlier.looks.findLast((each) => isComplete(each) && each.answeredMs < endOf(earlier));
  if (now === undefined || before === undefined) return [];
  const incidents = new Map(now.document.incidents.map((each) => [each.id, each]));
  const parts = new Set(now.document.incidents.map(({ failover }) => failover?.repeated?.includes));
  const lost = before.document.incidents.filter(({ id, begin, kind }) => {
    const found = incidents.get(id);
    return !parts.has(id) && (found?.begin !== begin || found.kind !== kind);
  });
  const states = new Map(linesOf(now.document).map((each) => [subjectOf(each), each]));
  // On a busy machine polls end too late. What was not known in between has not lasted.
  const unknown = new Set(life.lines.filter(({ state }) => state === "unknown").map(subjectOf));
  const others = linesOf(before.document)
    // Of those that have not changed since long before.
    .filter(({ cluster }) => (truth.get(cluster)?.at(-1)?.atMs ?? 0) < before.askedMs - LATENCY_MS)
    .map((each) => ({ each, restored: states.get(subjectOf(each)) }))
    .filter(({ each }) => !unknown.has(subjectOf(each)))
    // After a start, a contradiction has to be proven again.
    .filter(({ restored }) => restored?.state !== "changing")
    .filter(({ each, restored }) => JSON.stringify(each) !== JSON.stringify(restored));
  return [...lost, ...others];
}

/** Whether everything was polled. */
function isComplete({ document }: Look): boolean {
  return document.clusters.every(
    ({ appliances, websites }) =>
      appliances.every(({ state }) => state !== undefined) &&
      websites.every(({ states }) => states.length > 0),
  );
}

/** The times between lives of which the program reads from its journal that a state was known. */
function knownBetween(lives: readonly Life[], lines: readonly Line[]): readonly Span[] {
  const known: Span[] = [];
  const fold = createFold((_, fromMs, toMs) => void known.push({ fromMs, toMs }));
  for (const line of lines) {
    const record = parseRecord(JSON.stringify(line));
    if (record !== undefined) fold.read(record);
  }
  fold.end();
  const runs = lives.filter((life) => life.lines.length > 0);
  return runs
    .slice(1)
    .map((life, nth): Span => {
      const latest = runs[nth]?.lines.map(({ at }) => Date.parse(at)) ?? [];
      return { fromMs: Math.max(...latest), toMs: Date.parse(life.lines[0]?.at ?? "") };
    })
    .filter((gap) => known.some(({ fromMs, toMs }) => fromMs < gap.toMs && toMs > gap.fromMs));
}
