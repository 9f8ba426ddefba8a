import { readdirSync, existsSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import { healthy } from "./behaviours.ts";
import type { Program } from "./program.ts";
import { entry, EVERY_SECOND, test, type Stage } from "./stage.ts";

const HOUR_SECONDS = 3600;

/**
 * The library that sets the clock of a program with threads. It is loaded without the command `faketime`, which fails if
 * an earlier process with the same id left its semaphore.
 */
function libfaketime(): string {
  const places = readdirSync("/usr/lib").map((name) => `/usr/lib/${name}/faketime/libfaketimeMT.so.1`);
  const found = places.find((place) => existsSync(place));
  if (found === undefined) throw new Error("libfaketime is missing: run scripts/install-test-tools.sh");
  return found;
}

/** Removes what the library leaves of a process that was killed. */
async function removeTraces(pid: number | undefined): Promise<void> {
  await rm(`/dev/shm/sem.faketime_sem_${pid}`, { force: true });
  await rm(`/dev/shm/faketime_shm_${pid}`, { force: true });
}

/** A program whose wall clock can be set. Its monotonic clock is the kernel's: setting a clock does not touch that one. */
async function startWithClock(stage: Stage, setup: { readonly config: unknown }) {
  const file = join(await stage.folder({ config: {}, files: { offset: "+0" } }), "offset");
  const pids: (number | undefined)[] = [];
  stage.cleanUp(() => Promise.all(pids.map(removeTraces)));
  const program = await stage.program(setup, {
    env: {
      LD_PRELOAD: libfaketime(),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    },
  });
  pids.push(program.child.pid);
  const setClock = async (offsetSeconds: number): Promise<void> => {
    await writeFile(`${file}.new`, `${offsetSeconds < 0 ? "" : "+"}${offsetSeconds}`);
    // Just before an instant of the schedule, whose timer then fires under the new time.
    await new Promise((resolve) => setTimeout(resolve, 3950 - (Date.now() % 2000)));
    await rename(`${file}.new`, file);
  };
  return { program, setClock };
}

/** Polls that came due, made or skipped, and between which moments of ours they were counted. */
async function countDue(program: Program) {
  const fromMs = performance.now();
  const samples = await program.scrape();
  const made = samples.all("appliance_polls_total");
  const skipped = samples.all("appliance_exporter_polls_skipped_total");
  const count = [...made, ...skipped].reduce((sum, { value }) => sum + value, 0);
  return { count, fromMs, untilMs: performance.now() };
}

/** What the program's clock says, in seconds from ours. */
async function offsetOf(program: Program): Promise<number> {
  const seen = (await program.scrape()).value("appliance_last_success_timestamp_seconds", { appliance: "a" });
  return (seen ?? Number.NaN) - Date.now() / 1000;
}

/** Polls of one appliance each second, and of one each other second. */
function dueIn(ms: number): number {
  return (1.5 * ms) / 1000;
}

for (const [name, offsetSeconds] of [
  ["back an hour", -HOUR_SECONDS],
  ["forward a day", 24 * HOUR_SECONDS],
] as const) {
  test.concurrent(`fault 23: the clock is set ${name}: intervals and schedules go on at their pace, without a gap and without a burst`, async ({
    stage,
  }) => {
    const onInterval = await stage.server(healthy);
    const onSchedule = await stage.server(healthy);
    const schedule = { vrrp: { schedule: "*/2 * * * * *", timeout: "1s" } };
    const appliances = [entry("a", onInterval), entry("b", onSchedule, { polling: schedule })];
    const config = { polling: { vrrp: EVERY_SECOND }, appliances };
    const { program, setClock } = await startWithClock(stage, { config });
    await eventually(() => expect(onInterval.requests.length).toBeGreaterThanOrEqual(2));

    await setClock(offsetSeconds);
    const before = await countDue(program);
    const [intervals, scheduled] = [onInterval.requests.length, onSchedule.requests.length];
    await eventually(() => {
      expect(onInterval.requests.length).toBeGreaterThanOrEqual(intervals + 6);
      expect(onSchedule.requests.length).toBeGreaterThanOrEqual(scheduled + 3);
    });
    // A busy machine may skip some, which are counted as well.
    const after = await countDue(program);
    expect(after.count - before.count).toBeGreaterThan(dueIn(after.fromMs - before.untilMs) - 3);
    expect(after.count - before.count).toBeLessThan(dueIn(after.untilMs - before.fromMs) + 3);
    await eventually(async () => {
      expect(Math.abs((await offsetOf(program)) - offsetSeconds)).toBeLessThan(HOUR_SECONDS / 2);
      const ups = (await program.scrape()).all("appliance_up");
      expect(ups.map(({ value }) => value)).toEqual([1, 1]);
    });
    const told = program.log().filter(({ msg }) => msg === "wall clock jumped");
    expect(told.map(({ level }) => level)).toEqual(["warn"]);
  });
}
