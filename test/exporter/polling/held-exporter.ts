import { onTestFinished } from "vitest";
import type { Body, Endpoint } from "../../../src/exporter/client/client.ts";
import type { Outcome } from "../../../src/exporter/api/failure.ts";
import { WHOLE_FLEET } from "../../../src/exporter/config/shard.ts";
import { createFleet } from "../../../src/exporter/fleet/fleet.ts";
import type { Observation } from "../../../src/exporter/polling/observation.ts";
import { startRunner } from "../../../src/exporter/polling/runner.ts";
import { createStatusBoard } from "../../../src/exporter/board/board.ts";
import { createLog } from "../../../src/support/log.ts";
import { detailsOf } from "../discovery/appliance.ts";
import { NO_PAST } from "../judge/support.ts";
import { applianceOf, configOf } from "../../support/observations.ts";
import { holdClock } from "./held-clock.ts";
import { bodyOf, failing, NO_EVENTS, SITE_OK, slowClient } from "./poller-support.ts";

export const IDS = Array.from({ length: 8 }, (_, nth) => nth + 1);
const membersOf = (discoveryMs: number) =>
  ["a", "b"].map((name) =>
    applianceOf({
      name,
      cluster: "ams",
      discovery: { exclude: [], limit: 200 },
      polling: {
        vrrp: { kind: "interval", intervalMs: 5_000, timeoutMs: 4_000 },
        websites: { kind: "interval", intervalMs: 30_000, timeoutMs: 20_000 },
        discovery: { kind: "interval", intervalMs: discoveryMs, timeoutMs: 20_000 },
        maxConcurrentWebsiteTests: 4,
      },
    }),
  );

type Answer = Outcome<Body>;
export type Kind = Observation["kind"];
export const answerOf = (value: unknown): Answer => ({ ok: true, value: bodyOf(JSON.stringify(value)) });

/** What the appliances answer to the nth request for a path, from 1 on; what is not given is as on a quiet day. */
export type Answers = Partial<Record<Kind, (member: string, nth: number, id: number) => Answer>>;

export const vrrpOf = (state: string): Answer =>
  answerOf({
    carp0: { vhid: "2", vip: "192.0.2.1", state_current: state, priority: "204", advskew: "50" },
  });
export const NOT_FOUND = failing("http_status", { status: 404 });

export const QUIET: Required<Answers> = {
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
export function startExporter(answers: Answers, discoveryMs = 60_000) {
  const members = membersOf(discoveryMs);
  const [clock, fleet] = [holdClock(), createFleet()];
  const requests: Record<Kind, number> = { vrrp: 0, website_list: 0, website_details: 0, website_test: 0 };
  const runner = startRunner({
    clock,
    onClockJump: () => {},
    operationsOf: ({ name }) => fleet.operations(name),
  });
  onTestFinished(runner.stop);
  const board = createStatusBoard({
    version: "1.2.3",
    shard: WHOLE_FLEET,
    fleet,
    self: NO_EVENTS,
    logger: createLog("error", "json", 2).logger,
    clock,
    runner,
    ...NO_PAST,
  });
  fleet.configure(configOf(...members), 0);
  const createClient = ({ baseUrl }: Endpoint) => {
    const name = new URL(baseUrl).hostname.slice(0, 1);
    const counts = new Map<string, number>();
    return slowClient(10, (path) => {
      const [kind, nth] = [kindOf(path), (counts.get(path) ?? 0) + 1];
      counts.set(path, nth);
      requests[kind] += 1;
      return (answers[kind] ?? QUIET[kind])(name, nth, Number(/website\/(\d+)/.exec(path)?.[1]));
    });
  };
  void runner.prepare(configOf(...members), createClient, board)();
  return { requests, clock, board };
}
