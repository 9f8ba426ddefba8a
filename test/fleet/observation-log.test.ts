import { expect, test } from "vitest";
import { logObservation, type FleetChange } from "../../src/fleet/changes.ts";
import { createMemoryLog } from "../support/exporter.ts";
import { failureOf, listOf, vrrpSeen } from "../support/observations.ts";

function stateChange(nth: number): FleetChange {
  return { kind: "vrrp_state", interface: `carp${nth}`, vhid: 1, vip: "v", from: "MASTER", to: "BACKUP" };
}

/** The lines about these changes. */
function logged(changes: readonly FleetChange[]): readonly unknown[] {
  const log = createMemoryLog();
  logObservation(log.logger, vrrpSeen("a", listOf([])), changes);
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
    appliance: "a",
    count: 3,
    msg: "more vrrp states changed",
  });
});

test("other changes are logged beside any number of states", () => {
  const states = Array.from({ length: 1024 }, (_, nth) => stateChange(nth));
  const recovered: FleetChange = {
    kind: "recovered",
    operation: { kind: "vrrp" },
    from: failureOf("timeout"),
  };
  const lines = logged([...states, recovered]);
  expect(lines).toHaveLength(22);
  expect(lines).toContainEqual(expect.objectContaining({ msg: "polling recovered" }));
});
