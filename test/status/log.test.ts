import { expect, test } from "vitest";
import type { FleetChange } from "../../src/fleet/changes.ts";
import { logEvents, logObservation } from "../../src/status/log.ts";
import { createMemoryLog } from "../support/exporter.ts";
import { failureOf, listOf, seen } from "../support/observations.ts";

function stateChange(nth: number): FleetChange {
  return { kind: "vrrp_state", interface: `carp${nth}`, vhid: 1, vip: "v", from: "MASTER", to: "BACKUP" };
}

/** The lines about these changes. */
function logged(changes: readonly FleetChange[]): readonly unknown[] {
  const log = createMemoryLog();
  logObservation(log.logger, "ams", seen.vrrp("a", listOf([])), changes);
  return log.lines.filter(({ level }) => level !== "debug");
}

test("20 changed states are 20 lines, and any more of one poll are one line with their number", () => {
  const states = Array.from({ length: 23 }, (_, nth) => stateChange(nth));
  expect(logged(states.slice(0, 20))).toHaveLength(20);
  const lines = logged(states);
  expect(lines).toHaveLength(21);
  expect(lines.at(-2)).toMatchObject({ interface: "carp19", msg: "vrrp state changed" });
  expect(lines.at(-1)).toMatchObject({
    level: "info",
    cluster: "ams",
    appliance: "a",
    count: 3,
    msg: "more vrrp states changed",
  });
});

test("other changes are logged beside any number of states", () => {
  const states = Array.from({ length: 1024 }, (_, nth) => stateChange(nth));
  const recovered: FleetChange = {
    kind: "recovered",
    operation: { kind: "website_list" },
    from: failureOf("timeout"),
  };
  const lines = logged([...states, recovered]);
  expect(lines).toHaveLength(22);
  expect(lines).toContainEqual(expect.objectContaining({ msg: "polling recovered" }));
});

test("an event is a line with its cluster and its sentence, a warning if it is an outage", () => {
  const log = createMemoryLog();
  const event = { at: "2026-11-21T12:00:00.000Z", cluster: "ams", summary: "b took over v from a" } as const;
  logEvents(log.logger, [
    { ...event, kind: "failover" },
    { ...event, kind: "outage" },
  ]);
  const line = { cluster: "ams", summary: "b took over v from a", msg: "event" };
  expect(log.lines).toMatchObject([
    { ...line, level: "info", kind: "failover" },
    { ...line, level: "warn", kind: "outage" },
  ]);
});

test("20 events of a poll are 20 lines, and any more are one line with their number", () => {
  const log = createMemoryLog();
  const event = { at: "2026-11-25T00:00:00.000Z", kind: "change", cluster: "ams" } as const;
  logEvents(
    log.logger,
    Array.from({ length: 23 }, (_, nth) => ({ ...event, summary: `a: X${nth} → Y${nth}` })),
  );
  expect(log.lines).toHaveLength(21);
  expect(log.lines.at(-1)).toMatchObject({ level: "info", cluster: "ams", count: 3, msg: "more events" });
});
