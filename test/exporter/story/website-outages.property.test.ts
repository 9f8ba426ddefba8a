import { expect, test } from "vitest";
import type { Observation } from "../../../src/exporter/polling/observation.ts";
import type { IncidentSubject } from "../../../src/exporter/story/incident.ts";
import { createRandom, type Random } from "../../support/random.ts";
import { applianceOf, failed, interfaceOf, listOf, seen, websiteOf } from "../../support/observations.ts";
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

/** The longest polls of a list, and tests. */
const MAX_POLL_MS = 300;
const MAX_TEST_MS = 800;

/**
 * Two members whose websites go down and up, also as a member takes over, and that hand over, die and come back. No
 * answer shows a member that takes over and back between two lists, so each is MASTER for longer than that.
 */
function truthOf(random: Random, listMs: number): readonly Truth[] {
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
    const wasListed = atMs - changedMs > listMs + MAX_POLL_MS;
    if (what < 4 && !wasListed) push({});
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

/** Returns the times without the website for visitors. */
function darkTimes(all: readonly Truth[]): readonly { readonly fromMs: number; readonly toMs: number }[] {
  return all.flatMap((each, nth) => {
    const before = all[nth - 1];
    if (isServed(each) || before === undefined || !isServed(before)) return [];
    return [{ fromMs: each.atMs, toMs: all.slice(nth).find(isServed)?.atMs ?? Number.POSITIVE_INFINITY }];
  });
}

interface Poll {
  readonly atMs: number;
  readonly observation: Observation;
}

/** The polls of both members at their intervals, each with what was true at some instant of it. */
function pollsOf(all: readonly Truth[], random: Random, listMs: number): readonly Poll[] {
  const testMs = [1000, 5000, 30_000][Math.floor(random(0, 3))] ?? 0;
  return NAMES.flatMap((name) => {
    const lists = every(listMs, random).map(([sentMs, sinceMs]): Poll => {
      const endedMs = sentMs + random(1, Math.min(MAX_POLL_MS, listMs / 2));
      const { master, isAlive } = at(all, random(sentMs, endedMs));
      const given = { sentAtMs: sentMs, sinceMs, expiresAtMs: endedMs + 1e5 };
      if (!isAlive[name]) return { atMs: endedMs, observation: failed.vrrp(name, "timeout", given) };
      const state = master === name ? "MASTER" : "BACKUP";
      return { atMs: endedMs, observation: seen.vrrp(name, listOf([interfaceOf({ state })]), given) };
    });
    const tests = every(testMs, random).map(([sentMs, sinceMs]): Poll => {
      const endedMs = sentMs + random(1, MAX_TEST_MS);
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
    const listMs = [500, 1000, 5000][Math.floor(random(0, 3))] ?? 0;
    const truth = truthOf(random, listMs);
    const polls = pollsOf(truth, random, listMs);
    const members = NAMES.map((name) =>
      applianceOf({
        name,
        cluster: "ams",
        isAlone: false,
        websites: [websiteOf({ id: 2, name: "shop", protocols: ["https"] })],
      }),
    );
    const judged = judgedFleet(members);
    const outages = new Map<string, IncidentSubject>();
    for (const { observation, atMs } of polls)
      for (const { id, kind, subjects } of judged(observation, atMs).judged.now.incidents.news)
        if (kind === "website_down") for (const each of subjects) outages.set(`${id} ${each.key}`, each);
    for (const [key, { lastUp, over }] of outages) {
      if (lastUp === undefined || over === undefined) continue;
      const { sentMs } = lastUp;
      const { reachedMs } = over;
      count += 1;
      expect(over.aboutMs - lastUp.aboutMs).toBeLessThanOrEqual(reachedMs - sentMs);
      // Visitors were served at some instant of the first test, and at some instant of the last one.
      const own = darkTimes(truth).filter(
        ({ fromMs, toMs }) => toMs > sentMs + MAX_TEST_MS && fromMs < reachedMs - MAX_TEST_MS,
      );
      for (const { fromMs, toMs } of own)
        expect([fromMs >= sentMs, toMs <= reachedMs], `seed ${seed}: ${key}`).toEqual([true, true]);
    }
  }
  expect(count).toBeGreaterThan(RUNS);
}, 120_000);
