import { expect, test } from "vitest";
import type { Observation } from "../../../src/exporter/polling/observation.ts";
import { createPast } from "../../../src/exporter/story/past.ts";
import { createRandom, type Random } from "../../support/random.ts";
import {
  applianceOf,
  failed,
  interfaceOf,
  listOf,
  seen,
  WALL_MS,
  websiteOf,
} from "../../support/observations.ts";
import { judgedFleet } from "../judge/support.ts";

const RUNS = Number(process.env["WEBSITE_OUTAGES"] ?? 40);
const LASTS_MS = 600_000;
const NAMES = ["a", "b"] as const;
type Name = (typeof NAMES)[number];

/** What is true from an instant on: who serves visitors, whether a member is up, and whether it has the website. */
interface Truth {
  readonly atMs: number;
  readonly master: Name | undefined;
  readonly isAlive: Readonly<Record<Name, boolean>>;
  readonly hasSite: Readonly<Record<Name, boolean>>;
}

const FIRST: Truth = {
  atMs: -1e6,
  master: "a",
  isAlive: { a: true, b: true },
  hasSite: { a: true, b: true },
};

/** Lists are polled this often at least. A member that takes over and back between two polls is not seen. */
const MAX_LIST_MS = 5000;

/** Two members whose websites go down and up, also as a member takes over, and that hand over, die and come back. */
function truthOf(random: Random): readonly Truth[] {
  const all: Truth[] = [FIRST];
  let [atMs, last] = [random(20_000, 60_000), FIRST];
  const push = (change: Partial<Truth>): void => {
    last = { ...last, ...change, atMs };
    all.push(last);
  };
  while (atMs < LASTS_MS) {
    const { master, isAlive, hasSite } = last;
    const other = master === "a" ? "b" : "a";
    const member = NAMES[Math.floor(random(0, 2))] ?? "a";
    const what = random(0, 6);
    const changedMs = all[all.findLastIndex((each) => each.master !== master) + 1]?.atMs ?? 0;
    const isSettled = atMs - changedMs > 2 * MAX_LIST_MS;
    if (what < 4 && !isSettled) push({});
    else if (what < 2 && master !== undefined && isAlive[other]) {
      // It hands over, and sometimes the successor loses the website with it.
      const isLost = random(0, 1) < 0.5;
      push({ master: other, hasSite: isLost ? { ...hasSite, [other]: false } : hasSite });
    } else if (what < 3 && master !== undefined && isAlive[other]) {
      push({ master: undefined, isAlive: { ...isAlive, [master]: false } });
      atMs += random(500, 4000);
      const isLost = random(0, 1) < 0.5;
      push({ master: other, hasSite: isLost ? { ...hasSite, [other]: false } : hasSite });
    } else if (what < 4)
      push({ isAlive: { a: true, b: true }, ...(master === undefined && { master: "a" }) });
    else push({ hasSite: { ...hasSite, [member]: !hasSite[member] } });
    atMs += random(0, 1) < 0.3 ? random(100, 3000) : random(5000, 60_000);
  }
  return all;
}

const at = (all: readonly Truth[], ms: number): Truth => all.findLast(({ atMs }) => atMs <= ms) ?? FIRST;
const isServed = ({ master, isAlive, hasSite }: Truth): boolean =>
  master !== undefined && isAlive[master] && hasSite[master];

/** Returns the latest time without the website for visitors that began before an instant. */
function latestDark(
  all: readonly Truth[],
  ms: number,
): { readonly fromMs: number; readonly toMs: number } | undefined {
  const last = all.findLastIndex((each) => each.atMs <= ms && !isServed(each));
  const from = all.slice(0, last + 1).findLastIndex(isServed) + 1;
  const to = all.slice(last).find(isServed);
  const fromMs = all[from]?.atMs;
  return last < 0 || fromMs === undefined ? undefined : { fromMs, toMs: to?.atMs ?? LASTS_MS };
}

interface Poll {
  readonly atMs: number;
  readonly observation: Observation;
}

/** The polls of both members at their intervals, each with what was true at some instant of it. */
function pollsOf(all: readonly Truth[], random: Random): readonly Poll[] {
  const [listMs, testMs] = [
    [500, 1000, 5000][Math.floor(random(0, 3))] ?? 0,
    [1000, 5000, 30_000][Math.floor(random(0, 3))] ?? 0,
  ];
  return NAMES.flatMap((name) => {
    const lists = every(listMs, random).map(([sentMs, sinceMs]): Poll => {
      const endedMs = sentMs + random(1, Math.min(300, listMs / 2));
      const { master, isAlive } = at(all, random(sentMs, endedMs));
      const given = { sentAtMs: sentMs, sinceMs, expiresAtMs: endedMs + 1e5 };
      if (!isAlive[name]) return { atMs: endedMs, observation: failed.vrrp(name, "timeout", given) };
      const state = master === name ? "MASTER" : "BACKUP";
      return { atMs: endedMs, observation: seen.vrrp(name, listOf([interfaceOf({ state })]), given) };
    });
    const tests = every(testMs, random).map(([sentMs, sinceMs]): Poll => {
      const endedMs = sentMs + random(1, 800);
      const { isAlive, hasSite } = at(all, random(sentMs, endedMs));
      const given = { sentAtMs: sentMs, sinceMs, expiresAtMs: endedMs + 1e5 };
      if (!isAlive[name])
        return { atMs: endedMs, observation: failed.website(name, 2, "appliance_down", given) };
      const status = hasSite[name] ? 200 : 503;
      return { atMs: endedMs, observation: seen.website(name, 2, [{ protocol: "https", status }], given) };
    });
    return [...lists, ...tests];
  }).toSorted((one, other) => one.atMs - other.atMs);
}

/** The instants of polls, each with the one before. */
function every(intervalMs: number, random: Random): readonly (readonly [number, number])[] {
  const firstMs = random(0, intervalMs);
  return Array.from({ length: Math.floor(LASTS_MS / intervalMs) }, (_, nth) => {
    const sentMs = firstMs + nth * intervalMs;
    return [sentMs, sentMs - intervalMs];
  });
}

test(`no outage of a website is longer than its "at most", in ${RUNS} courses`, () => {
  let count = 0;
  for (let seed = 1; seed <= RUNS; seed += 1) {
    const random = createRandom(seed);
    const truth = truthOf(random);
    const polls = pollsOf(truth, random);
    const past = createPast(10_000);
    const members = NAMES.map((name) =>
      applianceOf({
        name,
        cluster: "ams",
        isAlone: false,
        websites: [websiteOf({ id: 2, name: "shop", protocols: ["https"] })],
      }),
    );
    const judged = judgedFleet(members);
    for (const { observation, atMs } of polls) past.add(judged(observation, atMs).judged.now.incidents.news);
    for (const { kind, begin, outages = [] } of past.list()) {
      if (kind !== "website_down") continue;
      for (const { end, atMostSeconds, aboutSeconds = 0 } of outages) {
        if (atMostSeconds === undefined) continue;
        // A hand-over that no list has shown yet may go on with an outage that was over at the former master.
        const endMs = Date.parse(end) - WALL_MS;
        if (at(truth, endMs).master !== at(truth, endMs - MAX_LIST_MS).master) continue;
        const dark = latestDark(truth, Date.parse(begin) - WALL_MS);
        count += 1;
        expect(aboutSeconds).toBeLessThanOrEqual(atMostSeconds);
        // What a member found as BACKUP may be all that was wrong.
        if (dark === undefined || dark.toMs < endMs - atMostSeconds * 1000) continue;
        expect(dark.toMs - dark.fromMs, `seed ${seed}: ${begin} to ${end}`).toBeLessThanOrEqual(
          atMostSeconds * 1000,
        );
      }
    }
  }
  expect(count).toBeGreaterThan(RUNS);
}, 120_000);
