import { expect, test } from "vitest";
import type { ApplianceConfig } from "../../../src/exporter/config/config.ts";
import type { ApplianceClient, Body, Endpoint } from "../../../src/exporter/client/client.ts";
import type { Outcome } from "../../../src/exporter/api/failure.ts";
import type { PollEvents } from "../../../src/exporter/polling/observation.ts";
import { startRunner } from "../../../src/exporter/polling/runner.ts";
import { applianceOf, configOf, websiteOf } from "../../support/observations.ts";
import { holdClock } from "./held-clock.ts";
import {
  failing,
  fakeClient,
  NO_EVENTS,
  NO_INTERFACES,
  shortly,
  SITE_OK,
  slowClient,
  startHeldRunner,
  testsOnly,
} from "./poller-support.ts";

const ANSWER_MS = 300;
const COURSE_MS = 60_000;
const RELOAD_MS = 100;

const FAST = {
  vrrp: { kind: "interval", intervalMs: 1_000, timeoutMs: 1_000 },
  websites: { kind: "interval", intervalMs: 2_000, timeoutMs: 1_000 },
  discovery: { kind: "interval", intervalMs: 3_000, timeoutMs: 1_000 },
  maxConcurrentWebsiteTests: 1,
} as const;
const BY_SCHEDULE = { kind: "schedule", expression: "*/2 * * * * *", timeoutMs: 1_000 } as const;

const websites = [1, 2, 3].map((id) => websiteOf({ id }));
/** Appliances by the answer for their list. */
const COURSES: readonly (readonly [ApplianceConfig, Outcome<Body>])[] = [
  [applianceOf({ name: "good", websites, polling: FAST }), NO_INTERFACES],
  [applianceOf({ name: "scheduled", websites, polling: { ...FAST, vrrp: BY_SCHEDULE } }), NO_INTERFACES],
  [applianceOf({ name: "refusing", websites, polling: FAST }), failing("auth")],
  [applianceOf({ name: "busy", polling: FAST }), failing("http_status", { retryAfterMs: 7_000 })],
  [applianceOf({ name: "down", websites, polling: FAST }), failing("connect")],
];

/** All requests and skips in a minute, with their instants, while `reload` is called every 100 ms. */
async function courseOf(
  reload: (nth: number) => readonly ApplianceConfig[] | undefined,
): Promise<readonly string[]> {
  const clock = holdClock();
  const events: string[] = [];
  const note = (what: string): void => void events.push(`${clock.monotonicMs()} ${what}`);
  const runner = startRunner({ clock, onClockJump: () => note("clock jump"), operationsOf: testsOnly });
  const polls: PollEvents = {
    ...NO_EVENTS,
    observed: (observation) => note(`${observation.appliance} ${shortly(observation)}`),
    skipped: (kind, reason, count) => note(`${kind} ${reason} ${count}`),
  };
  const createClient = ({ baseUrl }: Endpoint): ApplianceClient => clientOf(nameIn(baseUrl), note);
  const apply = (appliances: readonly ApplianceConfig[]): void =>
    void runner.prepare(configOf(...appliances), createClient, polls)();
  apply(COURSES.map(([appliance]) => appliance));
  for (let nth = 1; nth * RELOAD_MS <= COURSE_MS; nth += 1) {
    await clock.pass(RELOAD_MS);
    const next = reload(nth);
    if (next !== undefined) apply(next);
  }
  return events.filter((line) => !line.includes(" other"));
}

/** The appliance at this address. @see applianceOf */
function nameIn(baseUrl: string): string {
  return new URL(baseUrl).hostname.replace(".example", "");
}

function clientOf(name: string, note: (what: string) => void): ApplianceClient {
  const [, outcome = NO_INTERFACES] = COURSES.find(([appliance]) => appliance.name === name) ?? [];
  const client = slowClient(ANSWER_MS, (path) => {
    note(`${name} ${path}`);
    return path.includes("website") ? SITE_OK : outcome;
  });
  return { ...client, close: () => note(`${name} closed`) };
}

test("a reload every 100 ms changes no instant, no poll and no backoff of unchanged appliances", async () => {
  const undisturbed = await courseOf(() => undefined);
  expect(undisturbed.filter((line) => line.endsWith("good /api/v1/interface/virtual"))).toHaveLength(60);
  expect(undisturbed.filter((line) => line.includes("backoff")).length).toBeGreaterThan(50);
  const disturbed = await courseOf((nth) => [
    applianceOf({ name: "other", labels: { nth: String(nth) } }),
    ...(nth % 2 === 0 ? [applianceOf({ name: "other-2" })] : []),
    ...COURSES.map(([appliance]) => appliance),
  ]);
  expect(disturbed).toEqual(undisturbed);
});

function withOtherCredentials(appliance: ApplianceConfig): ApplianceConfig {
  return { ...appliance, http: { ...appliance.http, tls: { ...appliance.http.tls, serverName: "other" } } };
}

function createNoClientOfB({ baseUrl }: Endpoint): ApplianceClient {
  if (nameIn(baseUrl) === "b") throw new Error("no client for b");
  return fakeClient();
}

test("a configuration with a client that cannot be created has no effect on running polls", async () => {
  const [a, b] = [applianceOf({ name: "a" }), applianceOf({ name: "b" })];
  const { clock, runner, clients, observed } = startHeldRunner(a, b);
  await clock.pass(1_001);
  expect(() =>
    runner.prepare(configOf(withOtherCredentials(a), withOtherCredentials(b)), createNoClientOfB, NO_EVENTS),
  ).toThrow("no client for b");
  expect(clients.map(({ isClosed }) => isClosed)).toEqual([false, false]);
  for (const client of clients) await client.answer("/interface/virtual", NO_INTERFACES);
  expect(observed.map(shortly)).toEqual(["vrrp: ok", "vrrp: ok"]);
});
