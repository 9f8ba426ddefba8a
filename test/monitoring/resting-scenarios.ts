import { judged, type Course } from "./judged.ts";
import { alert, at, EVENT, type Scenario } from "./scenario.ts";
import { exporter, healthy, type Series } from "./world.ts";

const LASTS = EVENT + 1300;
const B_STAYS = [[0, "BACKUP"]] as const;

/** Schedules that rest from the event on, for 15 minutes at most. */
const RESTS: readonly Course[] = [
  {
    cluster: "as-before",
    members: {
      a: at("MASTER", [0, "resting"], [900, "MASTER"]),
      b: at("BACKUP", [0, "resting"], [900, "BACKUP"]),
    },
  },
  {
    cluster: "failed-over-meanwhile",
    members: {
      a: at("MASTER", [0, "resting"], [900, "BACKUP"]),
      b: at("BACKUP", [0, "resting"], [900, "MASTER"]),
    },
  },
  { cluster: "only-its-master", members: { a: at("MASTER", [0, "resting"]), b: B_STAYS } },
  { cluster: "only-its-backup", members: { a: [[0, "MASTER"]], b: at("BACKUP", [0, "resting"]) } },
  { cluster: "stands-alone", members: { lone: at("MASTER", [0, "resting"]) } },
];
/** The other exporter polls at all times, and sees the same. */
const WATCHED = RESTS.map(({ cluster, members }): Course => {
  const known = Object.entries(members).map(([name, states]) => {
    return [name, states.filter(([, state]) => state !== "resting")] as const;
  });
  return { cluster, members: Object.fromEntries(known) };
});

async function saidOf(courses: readonly Course[]): Promise<readonly Series[]> {
  return judged(courses, LASTS);
}

export const RESTING_SCENARIOS: readonly Scenario[] = [
  {
    name: "the schedules of all appliances rest",
    exporters: async () => [exporter("one:1", await saidOf(RESTS))],
    expected: [alert("VrrpFailover", { ha_cluster: "failed-over-meanwhile", appliance: "b" }, 900)],
    lastsSeconds: LASTS,
    intervals: [5, 30],
  },
  {
    name: "the schedules of some appliances rest beside others, and beside another exporter",
    exporters: async () => [
      exporter("one:1", await saidOf([...healthy(3), ...RESTS])),
      exporter("two:1", await saidOf([...healthy(3), ...WATCHED])),
    ],
    expected: [alert("VrrpFailover", { ha_cluster: "failed-over-meanwhile", appliance: "b" }, 900)],
    lastsSeconds: LASTS,
    intervals: [30],
  },
];
