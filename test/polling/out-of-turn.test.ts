import { expect, onTestFinished, test } from "vitest";
import type { Body } from "../../src/client/client.ts";
import type { Outcome } from "../../src/client/failure.ts";
import { WHOLE_FLEET } from "../../src/config/shard.ts";
import { createFleet } from "../../src/fleet/fleet.ts";
import type { Observation } from "../../src/polling/observation.ts";
import { startRunner } from "../../src/polling/runner.ts";
import { createStatusBoard, type StatusBoard } from "../../src/status/board.ts";
import { createLog } from "../../src/support/log.ts";
import { detailsOf } from "../discovery/appliance.ts";
import { applianceOf, configOf } from "../support/observations.ts";
import { holdClock } from "./held-clock.ts";
import { bodyOf, failing, NO_EVENTS, SITE_OK, slowClient } from "./poller-support.ts";

const IDS = Array.from({ length: 40 }, (_, nth) => nth + 1);
const MEMBERS = ["a", "b"].map((name) =>
  applianceOf({
    name,
    cluster: "ams",
    discovery: { exclude: [], limit: 200 },
    polling: {
      vrrp: { kind: "interval", intervalMs: 5_000, timeoutMs: 4_000 },
      websites: { kind: "interval", intervalMs: 30_000, timeoutMs: 20_000 },
      discovery: { kind: "interval", intervalMs: 60_000, timeoutMs: 20_000 },
      maxConcurrentWebsiteTests: 4,
    },
  }),
);

type Answer = Outcome<Body>;
type Kind = Observation["kind"];
const answerOf = (value: unknown): Answer => ({ ok: true, value: bodyOf(JSON.stringify(value)) });

/** What the appliances answer to the nth request for a path, from 1 on; what is not given is as on a quiet day. */
type Answers = Partial<Record<Kind, (member: string, nth: number, id: number) => Answer>>;

const vrrpOf = (state: string): Answer =>
  answerOf({
    carp0: { vhid: "2", vip: "192.0.2.1", state_current: state, priority: "204", advskew: "50" },
  });
const NOT_FOUND = failing("http_status", { status: 404 });

const QUIET: Required<Answers> = {
  vrrp: (member) => vrrpOf(member === "a" ? "MASTER" : "BACKUP"),
  website_list: () => answerOf(IDS.map(String)),
  website_details: (_member, _nth, id) => answerOf(detailsOf(`site-${id}`)),
  website_test: () => SITE_OK,
};

function kindOf(path: string): Kind {
  if (path.endsWith("/interface/virtual")) return "vrrp";
  if (path.endsWith("/website")) return "website_list";
  return path.endsWith("/test") ? "website_test" : "website_details";
}

/** An exporter that polls both members, and the number of requests of each kind. */
function startExporter(answers: Answers) {
  const [clock, fleet] = [holdClock(), createFleet()];
  const requests: Record<Kind, number> = { vrrp: 0, website_list: 0, website_details: 0, website_test: 0 };
  const board: StatusBoard = createStatusBoard({
    version: "1.2.3",
    shard: WHOLE_FLEET,
    fleet,
    self: NO_EVENTS,
    logger: createLog("error", "json", 2).logger,
    clock,
    runner: () => runner,
  });
  const runner = startRunner({
    clock,
    events: board,
    onClockJump: () => {},
    planOf: ({ name }) => fleet.plan(name),
  });
  onTestFinished(runner.stop);
  fleet.configure(configOf(...MEMBERS), 0);
  void runner.prepare(configOf(...MEMBERS), ({ baseUrl }) => {
    const name = new URL(baseUrl).hostname.slice(0, 1);
    const counts = new Map<string, number>();
    return slowClient(10, (path) => {
      const [kind, nth] = [kindOf(path), (counts.get(path) ?? 0) + 1];
      counts.set(path, nth);
      requests[kind] += 1;
      return (answers[kind] ?? QUIET[kind])(name, nth, Number(/website\/(\d+)/.exec(path)?.[1]));
    });
  })();
  return { requests, clock, board };
}

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
  const [quiet, made] = [await requestsOf({}), await requestsOf(answers)];
  const kinds = ["vrrp", "website_list", "website_details", "website_test"] as const;
  expect(kinds.filter((kind) => made[kind] > 2 * quiet[kind])).toEqual([]);
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
