import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { ApplianceConfig } from "../../../src/exporter/config/config.ts";
import type { Body } from "../../../src/exporter/client/client.ts";
import type { Outcome } from "../../../src/exporter/api/failure.ts";
import { startRunner } from "../../../src/exporter/polling/runner.ts";
import { applianceOf, configOf, websiteOf } from "../../support/observations.ts";
import { holdClock } from "./held-clock.ts";
import { failing, NO_EVENTS, NO_INTERFACES, SITE_OK, slowClient, testsOnly } from "./poller-support.ts";

const FIVE_MINUTES_MS = 300_000;
const WEBSITES = 10;

/** Instants of the refused requests to an appliance within this many minutes; answers take 20 ms. */
async function refusals(
  polling: ApplianceConfig["polling"],
  isRefused: (path: string) => boolean,
  list: Outcome<Body> = NO_INTERFACES,
  minutes = 40,
): Promise<readonly number[]> {
  const clock = holdClock();
  const refusedMs: number[] = [];
  const runner = startRunner({ clock, onClockJump: () => {}, operationsOf: testsOnly });
  const websites = Array.from({ length: WEBSITES }, (_, id) => websiteOf({ id }));
  const createClient = () =>
    slowClient(20, (path) => {
      if (!isRefused(path)) return path.includes("website") ? SITE_OK : list;
      refusedMs.push(clock.monotonicMs());
      return failing("auth");
    });
  void runner.prepare(configOf(applianceOf({ name: "waf", websites, polling })), createClient, NO_EVENTS)();
  for (let minute = 0; minute < minutes; minute += 1) await clock.pass(60_000);
  return refusedMs;
}

function most(instants: readonly number[]): number {
  const counts = instants.map(
    (fromMs) => instants.filter((atMs) => atMs >= fromMs && atMs < fromMs + FIVE_MINUTES_MS).length,
  );
  return Math.max(...counts);
}

/** The maximum within five minutes; `later`: from the twentieth minute on, when every backoff has its full length. */
function mostWithinFiveMinutes(refusedMs: readonly number[]): { first: number; later: number } {
  return { first: most(refusedMs), later: most(refusedMs.filter((atMs) => atMs >= 4 * FIVE_MINUTES_MS)) };
}

const DEFAULT = applianceOf({ name: "default" }).polling;
const FASTEST: ApplianceConfig["polling"] = {
  vrrp: { kind: "interval", intervalMs: 1_000, timeoutMs: 1_000 },
  websites: { kind: "interval", intervalMs: 1_000, timeoutMs: 1_000 },
  discovery: { kind: "interval", intervalMs: 1_000, timeoutMs: 1_000 },
  maxConcurrentWebsiteTests: 4,
};

const isTest = (path: string): boolean => path.includes("website");

test("an appliance gets as many refused requests within five minutes as the documents say", async () => {
  const list = mostWithinFiveMinutes(await refusals(DEFAULT, () => true));
  const tests = mostWithinFiveMinutes(await refusals(DEFAULT, isTest));
  const fastList = mostWithinFiveMinutes(await refusals(FASTEST, () => true, NO_INTERFACES, 6));
  const fastTests = mostWithinFiveMinutes(await refusals(FASTEST, isTest, NO_INTERFACES, 6));
  const perWebsite = [tests.first, tests.later, fastTests.first].map((count) => count / WEBSITES);
  expect([list.later, perWebsite[1]]).toEqual([1, 1]);
  const promise =
    `refused list makes ${list.first} refused requests in the first five minutes, N refused websites make ${perWebsite[0]} × N; ` +
    `at the shortest interval, 1s, it is ${fastList.first} and ${perWebsite[2]} × N. After that it is one each in five minutes.`;
  const page = readFileSync(new URL("../../../docs/operations.md", import.meta.url), "utf8").replaceAll(
    /\s+/g,
    " ",
  );
  expect(page.includes(promise) || promise).toBe(true);
});

test("refused tests share one backoff of the appliance if its list fails otherwise: those of the first round, then one each", async () => {
  const tests = await refusals(DEFAULT, isTest, failing("http_status"));
  expect(mostWithinFiveMinutes(tests)).toEqual({ first: 1 + 3, later: 1 });
});
