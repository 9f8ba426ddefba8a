import { expect, test } from "vitest";
import { detailsOf } from "../discovery/appliance.ts";
import {
  answerOf,
  IDS,
  type Answers,
  type Kind,
  NOT_FOUND,
  QUIET,
  startExporter,
  vrrpOf,
} from "./held-exporter.ts";
import { bodyOf, failing, SITE_OK } from "./poller-support.ts";

const SELDOM_MS = 300_000;

async function requestsOf(answers: Answers): Promise<Readonly<Record<Kind, number>>> {
  const { requests, clock } = startExporter(answers);
  await clock.pass(120_000);
  return requests;
}

const [UP, DOWN] = [
  SITE_OK,
  { ok: true, value: bodyOf('"HTTP CONNECT --- HTTP\\nHTTP/1.1 503 X\\n\\n"') },
] as const;
const MASTER = vrrpOf("MASTER");
const failsEverySecondTime: Answers["vrrp"] = (member, nth) =>
  member === "a" && nth % 2 === 0 ? failing("timeout") : MASTER;
const changes: Answers["website_details"] = (_member, nth, id) =>
  answerOf(detailsOf(`site-${id}`, { mode: String(nth % 2) }));
const failsTests: Answers["website_test"] = (_member, nth) => (nth % 2 === 0 ? DOWN : UP);

let quiet: Readonly<Record<Kind, number>> | undefined;

test.each<{ readonly what: string; readonly answers: Answers }>([
  {
    what: "a list that fails every second time",
    answers: { vrrp: (member, nth) => (nth % 2 === 0 ? failing("timeout") : QUIET.vrrp(member, nth, 0)) },
  },
  { what: "the same beside a split brain", answers: { vrrp: failsEverySecondTime } },
  { what: "details that change at each poll at both members", answers: { website_details: changes } },
  { what: "tests that fail every second time", answers: { website_test: failsTests } },
  {
    what: "all of them",
    answers: { vrrp: failsEverySecondTime, website_details: changes, website_test: failsTests },
  },
])("$what at most doubles the requests of each kind", async ({ answers }) => {
  const onQuietDay = (quiet ??= await requestsOf({}));
  const made = await requestsOf(answers);
  const kinds = ["vrrp", "website_list", "website_details", "website_test"] as const;
  expect(kinds.filter((kind) => made[kind] > 2 * onQuietDay[kind])).toEqual([]);
});

test("websites that are deleted one after the other, all of them, are no problem at any time", async () => {
  const left = new Set(IDS);
  const unlessDeleted = (kind: "website_details" | "website_test") =>
    ((member, nth, id) =>
      left.has(id) ? QUIET[kind](member, nth, id) : NOT_FOUND) satisfies Answers["vrrp"];
  const { clock, board } = startExporter({
    website_list: () => answerOf([...left].map(String)),
    website_details: unlessDeleted("website_details"),
    website_test: unlessDeleted("website_test"),
  });
  await clock.pass(60_000);
  for (const id of IDS) {
    left.delete(id);
    for (let second = 0; second < 5; second += 1) {
      await clock.pass(1000);
      expect((await board.document()).problems.map(({ summary }) => summary)).toEqual([]);
    }
  }
});

const BASE: Answers = { website_list: () => answerOf([1, 2]) };
const listChanges: Answers["website_list"] = (_member, nth) => answerOf([1, 2, nth + 2]);
const onlyAtA: Answers["website_list"] = (member, nth) => answerOf(member === "a" ? [1, 2, nth + 2] : [1, 2]);

/** Each member is polled five times in turn, at once and then every five minutes: 10 lists, and at least 18 details. */
test.each<readonly [what: string, answers: Answers, lists: number, details: number]>([
  ["nothing but what is due, on a quiet day", BASE, 10, 18],
  ["ten lists more of each, if that of one changes at each poll", { website_list: onlyAtA }, 30, 36],
  ["no more, if both lists do", { website_list: listChanges }, 30, 54],
  ["four times the details, if these change at each poll", { ...BASE, website_details: changes }, 10, 70],
  ["no more of each, if all do", { website_list: listChanges, website_details: changes }, 30, 106],
])("two members are polled for %s", async (_, answers, lists, details) => {
  const { requests, clock } = startExporter(answers, SELDOM_MS);
  await clock.pass(1_200_000);
  expect(requests).toMatchObject({ website_list: lists, website_details: details });
});

/** The modes of a member's websites, by id; `seconds`: since a poll in turn found that there is a change, negative before. */
type Course = (seconds: number, isMaster: boolean) => Readonly<Record<number, string>>;

const [PASS, PROTECT, DETECT] = ["0", "1", "3"] as const;
const LESS_PROTECTED = "losses by website_less_protected for 60 s";

test.each<readonly [what: string, seenIn: Kind, course: Course, risks: readonly string[]]>([
  [
    "added, 30 s later at its successor",
    "website_list",
    (seconds, isMaster) => ({ 1: PROTECT, ...(seconds >= (isMaster ? 0 : 30) && { 2: PROTECT }) }),
    ["losses by website_missing for 60 s", "unknown by website_unknown for 1 s"],
  ],
  [
    "added, in two steps at its successor",
    "website_list",
    (seconds, isMaster) => {
      return { 1: PROTECT, ...(seconds >= 0 && { 2: isMaster || seconds >= 30 ? PROTECT : DETECT }) };
    },
    [
      "losses by website_less_protected, website_unknown for 1 s",
      "losses by website_less_protected for 59 s",
    ],
  ],
  [
    "deleted, 30 s earlier at its successor",
    "website_list",
    (seconds, isMaster) => ({ 1: PROTECT, ...(seconds < (isMaster ? 30 : 0) && { 2: PROTECT }) }),
    ["losses by website_missing for 60 s"],
  ],
  [
    "changed, 30 s later at its successor",
    "website_details",
    (seconds, isMaster) => ({ 1: seconds >= (isMaster ? 0 : 30) ? PROTECT : DETECT }),
    [LESS_PROTECTED],
  ],
  [
    "changed twice, 30 s later at its successor",
    "website_details",
    (seconds, isMaster) => {
      const since = isMaster ? seconds : seconds - 30;
      return { 1: since < 0 ? PASS : since < 20 ? PROTECT : DETECT };
    },
    [LESS_PROTECTED],
  ],
  [
    "changed again while it is looked at once more, 30 s later at the master",
    "website_details",
    (seconds, isMaster) => ({ 1: seconds < 0 ? PASS : seconds < (isMaster ? 75 : 45) ? PROTECT : DETECT }),
    [LESS_PROTECTED],
  ],
])("a website that is %s, is a risk for a minute", async (_, seenIn, course, risks) => {
  let seenMs = Number.POSITIVE_INFINITY;
  const modesAt = (kind: Kind, member: string, nth: number) => {
    if (kind === seenIn && nth === 2) seenMs = Math.min(seenMs, performance.now());
    return course((performance.now() - seenMs) / 1000, member === "a");
  };
  const answers: Answers = {
    website_list: (member, nth) => answerOf(Object.keys(modesAt("website_list", member, nth))),
    website_details: (member, nth, id) =>
      answerOf(detailsOf(`site-${id}`, { mode: modesAt("website_details", member, nth)[id] })),
  };
  const { clock, board } = startExporter(answers, SELDOM_MS);
  await clock.pass(10_000);
  const states: { readonly words: string; seconds: number }[] = [];
  for (let second = 0; second < 550; second += 1) {
    await clock.pass(1000);
    const { state, risks: all = [] } = (await board.document()).clusters[0]?.appliances[0]?.failover ?? {};
    const known = all.filter(({ effect }) => effect !== "none").map(({ risk }) => risk);
    const words = known.length > 0 ? `${state} by ${known.join(", ")}` : `${state}`;
    const last = states.at(-1);
    if (last?.words === words) last.seconds += 1;
    else states.push({ words, seconds: 1 });
  }
  const lines = states.map(({ words, seconds }) => (words === "ready" ? words : `${words} for ${seconds} s`));
  expect(lines).toEqual(["ready", ...risks, "ready"]);
});
