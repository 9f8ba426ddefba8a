import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, inject } from "vitest";
import { eventually } from "../support/eventually.ts";
import { removeTracesOfFaketime } from "../support/faketime.ts";
import type { FaultServer } from "../support/fault-server.ts";
import { healthy } from "./behaviours.ts";
import type { Program } from "./program.ts";
import { entry, EVERY_SECOND, type Proof, type Stage } from "./proof.ts";

const HOUR_SECONDS = 3600;

/** A program whose wall clock can be set. Its monotonic clock is the kernel's: setting a clock does not touch that one. */
async function startWithClock(stage: Stage, setup: { readonly config: unknown }) {
  const faketime = inject("faketime");
  if (!faketime.ok) throw new Error(faketime.reason);
  const file = join(await stage.folder({ config: {}, files: { offset: "+0" } }), "offset");
  const pids: (number | undefined)[] = [];
  stage.cleanUp(() => Promise.all(pids.map(removeTracesOfFaketime)));
  const program = await stage.program(setup, {
    env: {
      LD_PRELOAD: faketime.path,
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

/** Requests in the seconds that follow, for lists of one appliance. */
async function requestsWithin(server: FaultServer, seconds: number): Promise<number> {
  const before = server.requests.length;
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  return server.requests.length - before;
}

/** What the program's clock says, in seconds from ours. */
async function offsetOf(program: Program): Promise<number> {
  const seen = (await program.scrape()).value("appliance_last_success_timestamp_seconds", { appliance: "a" });
  return (seen ?? Number.NaN) - Date.now() / 1000;
}

function proofOf(name: string, offsetSeconds: number): Proof {
  return {
    fault: 23,
    name: `the clock is set ${name}: intervals and schedules go on at their pace, without a gap and without a burst`,
    needs: "faketime",
    prove: async (stage) => {
      const onInterval = await stage.server(healthy);
      const onSchedule = await stage.server(healthy);
      const schedule = { vrrp: { schedule: "*/2 * * * * *", timeout: "1s" } };
      const appliances = [entry("a", onInterval), entry("b", onSchedule, { polling: schedule })];
      const config = { polling: { vrrp: EVERY_SECOND }, appliances };
      const { program, setClock } = await startWithClock(stage, { config });
      await eventually(() => expect(onInterval.requests.length).toBeGreaterThanOrEqual(2));

      await setClock(offsetSeconds);
      // The first of these polls falls within one interval of the jump, and none comes in between.
      const [intervals, scheduled] = await Promise.all([
        requestsWithin(onInterval, 6),
        requestsWithin(onSchedule, 6),
      ]);
      expect(intervals).toBeGreaterThanOrEqual(5);
      expect(intervals).toBeLessThanOrEqual(7);
      expect(scheduled).toBeGreaterThanOrEqual(2);
      expect(scheduled).toBeLessThanOrEqual(4);
      expect(Math.abs((await offsetOf(program)) - offsetSeconds)).toBeLessThan(5);
      const samples = await program.scrape();
      expect(samples.all("appliance_up").map(({ value }) => value)).toEqual([1, 1]);
      expect(samples.value("appliance_exporter_polls_skipped_total", { reason: "missed" })).toBe(0);
      const told = program.log().filter(({ msg }) => msg === "wall clock jumped");
      expect(told.map(({ level }) => level)).toEqual(["warn"]);
    },
  };
}

/** With the wall clock really set under the process. */
export const PROOFS_OF_CLOCKS: readonly Proof[] = [
  proofOf("back an hour", -HOUR_SECONDS),
  proofOf("forward a day", 24 * HOUR_SECONDS),
];
