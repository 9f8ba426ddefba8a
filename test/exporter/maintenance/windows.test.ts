import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { MaintenanceConfig } from "../../../src/exporter/config/config.ts";
import {
  createWindows,
  type StartRequest,
  type WindowResult,
  type Windows,
} from "../../../src/exporter/maintenance/windows.ts";
import { localUser } from "../../../src/exporter/maintenance/local-user.ts";
import type { MaintenanceWindow } from "../../../src/exporter/maintenance/window.ts";
import { clustersOf, fleetOf, MEMBER_A, MEMBER_B } from "../fleet/support.ts";
import { applianceOf, configOf, WALL_MS } from "../../support/observations.ts";
import { windowOf } from "./support.ts";

const MINUTE_MS = 60_000;
const ALONE = applianceOf({ name: "alone", labels: { site: "fra" } });
const APPLIANCES = [MEMBER_A, MEMBER_B, ALONE, applianceOf({ name: "off", enabled: false })];

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Windows under a clock that is held still; `changes`: each window that began or has another end. */
function heldWindows(
  restored: readonly MaintenanceWindow[] = [],
  maintenance: readonly MaintenanceConfig[] = [],
) {
  const changes: MaintenanceWindow[] = [];
  const drills: string[] = [];
  const muting = new Set<string>();
  let nowMs = WALL_MS;
  let monotonicMs = 0;
  const windows = createWindows({
    clock: { wallMs: () => nowMs, monotonicMs: () => monotonicMs },
    restored,
    onChange: (window) => void changes.push(window),
    isMuting: ({ id }) => muting.has(id),
    onDrill: (appliances) => void drills.push([...appliances].join(" ")),
  });
  windows.configure({ ...configOf(...APPLIANCES), maintenance });
  return {
    windows,
    changes,
    drills,
    muting,
    setForward: (minutes: number): void => void (nowMs += minutes * MINUTE_MS),
    passMinutes: (minutes: number): void => {
      nowMs += minutes * MINUTE_MS;
      monotonicMs += minutes * MINUTE_MS;
      vi.advanceTimersByTime(minutes * MINUTE_MS);
    },
  };
}

const PATCHES: MaintenanceConfig = {
  name: "patch night",
  comment: "kernel",
  scope: { appliances: ["a"], clusters: [], labels: {} },
  schedule: "0 0 2 * * *",
  timezone: "UTC",
  durationMs: 2 * 60 * MINUTE_MS,
};

test("the next window of each entry of the configuration is known before it begins", () => {
  // 22:13:20 on 14 November.
  const { windows, passMinutes } = heldWindows(
    [],
    [{ ...PATCHES, name: "later", schedule: "0 0 3 * * *" }, PATCHES],
  );
  const shown = () =>
    windows
      .coming()
      .map(({ beginMs, endMs }) => [beginMs, endMs].map((ms) => new Date(ms).toISOString().slice(8, 16)));
  expect(shown()).toEqual([
    ["15T02:00", "15T04:00"],
    ["15T03:00", "15T05:00"],
  ]);
  const [id] = windows.coming().map((each) => each.id);
  passMinutes(230);
  expect(windows.list().map((each) => each.id)).toEqual([id]);
  expect(shown()).toEqual([
    ["15T03:00", "15T05:00"],
    ["16T02:00", "16T04:00"],
  ]);
});

function request({
  scope,
  ...given
}: Partial<Omit<StartRequest, "scope">> & { scope?: Partial<StartRequest["scope"]> } = {}): StartRequest {
  return {
    id: "patchnight",
    scope: { appliances: [], clusters: [], labels: {}, ...(scope ?? { appliances: ["a"] }) },
    comment: "firmware 4.6",
    forMs: 30 * MINUTE_MS,
    isDrill: false,
    ...given,
  };
}

function answer(result: WindowResult): string {
  return result.ok
    ? `until minute ${(result.window.endMs - WALL_MS) / MINUTE_MS}`
    : `${result.reason}: ${result.message}`;
}

test.each([
  [{}, "until minute 30"],
  [{ scope: { clusters: ["ams"] } }, "until minute 30"],
  [{ scope: { labels: { site: "fra" } } }, "until minute 30"],
  [{ scope: {} }, "covers_nothing: the window names no appliance, cluster or label"],
  [{ scope: { appliances: ["a", "nobody"] } }, "covers_nothing: there is no enabled appliance nobody"],
  [{ scope: { appliances: ["off"] } }, "covers_nothing: there is no enabled appliance off"],
  [{ scope: { clusters: ["fra"] } }, "covers_nothing: there is no enabled cluster fra"],
  [
    { scope: { labels: { site: "fra", rack: "1" } } },
    "covers_nothing: there is no enabled appliance with these labels",
  ],
  [{ forMs: 24 * 60 * MINUTE_MS }, "until minute 1440"],
  [{ forMs: 24 * 60 * MINUTE_MS + 1 }, "too_long: a window may last 1440 minutes at most"],
  [{ isDrill: true, forMs: 30 * MINUTE_MS }, "until minute 30"],
  [{ isDrill: true, forMs: 31 * MINUTE_MS }, "too_long: a window may last 30 minutes at most"],
] as const)("%j: %s", (given, said) => {
  expect(answer(heldWindows().windows.start(request(given), "alice"))).toBe(said);
});

test("a window is listed until five minutes after its end, and has one id", () => {
  const { windows, changes, passMinutes } = heldWindows();
  windows.start(request(), "alice");
  expect(windows.list()).toEqual([windowOf({ appliances: ["a"] }, { endMs: WALL_MS + 30 * MINUTE_MS })]);
  expect(answer(windows.start(request(), "bob"))).toBe("duplicate_id: there is a window patchnight");
  passMinutes(34);
  expect(windows.list()).toHaveLength(1);
  expect(answer(windows.start(request(), "bob"))).toBe("duplicate_id: there is a window patchnight");
  passMinutes(1);
  expect(windows.list()).toEqual([]);
  expect(changes).toHaveLength(1);
});

test.each<readonly [Parameters<typeof request>[0], string]>([
  [{ scope: { appliances: ["b"] } }, "a is worked on"],
  [{ scope: { appliances: ["b"] }, isDrill: true }, "a is worked on"],
  [{ scope: { appliances: ["b"] }, despite: ["other000"] }, "a is worked on"],
  [{ scope: { appliances: ["b"] }, despite: ["other000", "patchnight"] }, ""],
  [{ scope: { appliances: ["a"] } }, ""],
  [{ scope: { appliances: ["a", "b"] } }, ""],
  [{ scope: { clusters: ["ams"] } }, ""],
  [{ scope: { labels: { site: "fra" } } }, ""],
])("beside a window on a member, %j begins only despite it", (given, members) => {
  const { windows } = heldWindows();
  windows.start(request(), "alice");
  const refusal = `planned_elsewhere: ${members} by alice until 2023-11-14 22:43 UTC (firmware 4.6): window patchnight; wait for its end, or start this one with --despite=patchnight`;
  const expected = members === "" ? "until minute 30" : refusal;
  expect(answer(windows.start(request({ id: "another0", ...given }), "bob"))).toBe(expected);
});

test("a window that has ended prevents no other", () => {
  const { windows, passMinutes } = heldWindows();
  windows.start(request(), "alice");
  passMinutes(30);
  const other = request({ id: "another0", scope: { appliances: ["b"] } });
  expect(answer(windows.start(other, "bob"))).toBe("until minute 60");
});

test("a window is ended early once, and extended to at most 24 hours from now", () => {
  const { windows, changes, passMinutes } = heldWindows();
  windows.start(request(), "alice");
  passMinutes(10);
  expect(answer(windows.extend("patchnight", 60 * MINUTE_MS, "bob"))).toBe("until minute 90");
  const tooLong = "too_long: a window may end 24 hours from now at most, and a drill cannot be extended";
  expect(answer(windows.extend("patchnight", (24 * 60 - 80) * MINUTE_MS + 1, "bob"))).toBe(tooLong);
  passMinutes(10);
  expect(answer(windows.end("patchnight", "carol"))).toBe("until minute 20");
  const unknown = "unknown_id: no window patchnight runs";
  expect(answer(windows.end("patchnight", "carol"))).toBe(unknown);
  expect(answer(windows.extend("patchnight", MINUTE_MS, "bob"))).toBe(unknown);
  expect(answer(windows.end("other", "carol"))).toBe("unknown_id: no window other runs");
  expect(changes.map(({ endMs, by, changedBy }) => [(endMs - WALL_MS) / MINUTE_MS, by, changedBy])).toEqual([
    [30, "alice", undefined],
    [90, "alice", "bob"],
    [20, "alice", "carol"],
  ]);
});

test("one drill runs at a time, is not extended, and concerns the whole cluster until it ends", () => {
  const { windows, drills, passMinutes } = heldWindows();
  windows.start(request({ id: "drill1", isDrill: true }), "alice");
  const second = request({ id: "drill2", isDrill: true });
  expect(answer(windows.start(second, "bob"))).toBe("drill_runs: the drill drill1 runs: one at a time");
  expect(answer(windows.start(request({ id: "window" }), "bob"))).toBe("until minute 30");
  expect(windows.extend("drill1", MINUTE_MS, "bob")).toMatchObject({ ok: false, reason: "too_long" });
  expect(drills).toEqual(["", "a b", "a b"]);
  passMinutes(30);
  expect(drills).toEqual(["", "a b", "a b", ""]);
  expect(answer(windows.start(second, "bob"))).toBe("until minute 60");
  windows.end("drill2", "carol");
  expect(drills.slice(-2)).toEqual(["a b", ""]);
});

const TOO_MANY =
  "too_many: alice has started or extended 50 windows, which is the most for a user: end one, and try again in a minute";

/** Starts so many windows for alice. */
function startMany(windows: Windows, count: number, given: Parameters<typeof request>[0] = {}): void {
  for (let nth = 0; nth < count; nth += 1) windows.start(request({ id: `window${nth}`, ...given }), "alice");
}

test("a user has fifty windows at most, and keeps no other user from starting one", () => {
  const { windows, passMinutes } = heldWindows();
  startMany(windows, 93);
  expect(windows.list()).toHaveLength(50);
  const next = request({ id: "onemore" });
  expect(answer(windows.start(next, "alice"))).toBe(TOO_MANY);
  expect(answer(windows.start(next, "bob"))).toBe("until minute 30");
  passMinutes(29);
  expect(answer(windows.start(request({ id: "another" }), "alice"))).toBe(TOO_MANY);
  passMinutes(2);
  expect(answer(windows.start(request({ id: "another" }), "alice"))).toBe("until minute 61");
});

test("all at the local socket have the places of one user, whatever names they state, also after a restart", () => {
  const { windows } = heldWindows();
  for (let nth = 0; nth < 50; nth += 1)
    windows.start(request({ id: `window${nth}` }), localUser(`user${nth}`));
  const next = request({ id: "onemore" });
  const another = localUser("another");
  expect(answer(windows.start(next, another))).toMatch(
    /^too_many: local socket has started or extended 50 windows/,
  );
  expect(answer(windows.extend("window0", MINUTE_MS, another))).toMatch(/^too_many: /);
  expect(answer(windows.start(next, "alice"))).toBe("until minute 30");
  const { windows: later } = heldWindows(windows.list());
  expect(answer(later.start(request({ id: "twomore" }), another))).toMatch(/^too_many: /);
});

test("a window that was ended and mutes nothing gives its place to another one after a minute", () => {
  const { windows, muting, passMinutes } = heldWindows();
  startMany(windows, 50);
  for (const id of ["window0", "window1", "window2"]) windows.end(id, "alice");
  muting.add("window0");
  const start = (id: string) => answer(windows.start(request({ id }), "alice"));
  expect(start("another0")).toBe(TOO_MANY);
  passMinutes(1);
  expect(start("another1")).toBe("until minute 31");
  expect(start("another2")).toBe("until minute 31");
  expect(start("another3")).toBe(TOO_MANY);
  const ids = windows.list().map(({ id }) => id);
  expect(ids).toHaveLength(50);
  expect(ids).toEqual(expect.arrayContaining(["window0", "window3", "another1", "another2"]));
  passMinutes(4);
  expect(start("another3")).toBe("until minute 35");
});

test("a loop of starts, extensions or ends makes fifty changes of each kind in a minute", () => {
  const { windows, changes, passMinutes } = heldWindows();
  const loop = () => {
    for (let nth = 0; nth < 200; nth += 1) {
      windows.start(request({ id: `loop${changes.length}` }), "alice");
      windows.end(`loop${changes.length - 1}`, "alice");
    }
  };
  loop();
  expect(changes).toHaveLength(100);
  expect(windows.list()).toHaveLength(50);
  passMinutes(1);
  loop();
  expect(changes).toHaveLength(200);
  expect(windows.list()).toHaveLength(50);
  windows.start(request(), "bob");
  for (let nth = 0; nth < 200; nth += 1) windows.extend("patchnight", 1000, "bob");
  expect(changes).toHaveLength(250);
  expect(answer(windows.end("patchnight", "bob"))).toBe("until minute 1");
});

test("who extends a window has it, and not who started it", () => {
  const { windows, passMinutes } = heldWindows();
  startMany(windows, 50);
  passMinutes(1);
  expect(answer(windows.extend("window0", MINUTE_MS, "alice"))).toBe("until minute 31");
  expect(answer(windows.start(request({ id: "another0" }), "alice"))).toBe(TOO_MANY);
  expect(answer(windows.extend("window1", MINUTE_MS, "bob"))).toBe("until minute 31");
  expect(answer(windows.start(request({ id: "another1" }), "alice"))).toBe("until minute 31");
  expect(windows.list()).toHaveLength(51);
});

test("windows of an earlier run are of the users who had them", () => {
  const restored = Array.from({ length: 50 }, (_, nth) =>
    windowOf({ appliances: ["a"] }, { id: `window${nth}` }),
  );
  const { windows } = heldWindows(restored);
  expect(answer(windows.start(request({ id: "onemore" }), "alice"))).toBe(TOO_MANY);
  expect(answer(windows.start(request({ id: "onemore" }), "bob"))).toBe("until minute 30");
});

test("an earlier run's windows go on, and cover clusters as others do", () => {
  const { windows } = heldWindows([windowOf({ appliances: ["a"] })]);
  const [ams, alone] = clustersOf(fleetOf(APPLIANCES));
  if (ams === undefined || alone === undefined) throw new Error("there are two clusters");
  expect(windows.covering(ams)).toEqual([windowOf({ appliances: ["a"] })]);
  expect(windows.covering(alone)).toEqual([]);
  expect(answer(windows.end("patchnight", "carol"))).toBe("until minute 0");
});

test("the windows that cover a cluster are the same list until they change, so that a poll of it costs no more with many", () => {
  const { windows, passMinutes } = heldWindows();
  startMany(windows, 2);
  const fleet = fleetOf(APPLIANCES);
  const covering = () => clustersOf(fleet).map((facts) => windows.covering(facts));
  const before = covering();
  expect(before.map((all) => all.map(({ id }) => id))).toEqual([["window0", "window1"], [], []]);
  passMinutes(1);
  for (const [nth, all] of covering().entries()) expect(all).toBe(before[nth]);
  windows.start(request({ id: "another0", scope: { appliances: ["alone"] } }), "bob");
  const [ams, alone] = covering();
  expect(ams).toBe(before[0]);
  expect(alone?.map(({ id }) => id)).toEqual(["another0"]);
  windows.end("window0", "alice");
  expect(covering()[0]).not.toBe(before[0]);
});

const AMS = { appliances: [], clusters: ["ams"], labels: {} };
/** The clock begins at 22:13:20. */
const PATCH_NIGHT: MaintenanceConfig = {
  name: "patch night",
  comment: "patches",
  schedule: "20 30 22 * * *",
  timezone: "UTC",
  scope: AMS,
  durationMs: 30 * MINUTE_MS,
};

test("a window of the configuration runs when it is due", () => {
  const { windows, passMinutes } = heldWindows([], [PATCH_NIGHT]);
  expect(windows.list()).toEqual([]);
  passMinutes(17);
  const [window] = windows.list();
  expect(window).toMatchObject({ scope: AMS, comment: "patches", by: undefined, origin: "configuration" });
  expect(windows.commanded()).toEqual([]);
  const [ams] = clustersOf(fleetOf(APPLIANCES));
  expect(ams && windows.covering(ams)).toEqual([window]);
  passMinutes(34);
  expect(windows.list()).toEqual([window]);
  passMinutes(2);
  expect(windows.list()).toEqual([]);
});

test.each([-60, 60])(
  "a window lasts as long as it was started for when the clock is set by %s minutes",
  (minutes) => {
    const { windows, changes, passMinutes, setForward } = heldWindows();
    windows.start(request({ isDrill: true }), "alice");
    passMinutes(10);
    setForward(minutes);
    const endMs = WALL_MS + (30 + minutes) * MINUTE_MS;
    expect(windows.list()).toMatchObject([{ beginMs: WALL_MS + minutes * MINUTE_MS, endMs }]);
    // After a restart, the journal says when it ends by the new time.
    expect(changes.at(-1)).toMatchObject({ endMs });
    passMinutes(19);
    expect(answer(windows.start(request({ id: "another1", isDrill: true }), "bob"))).toMatch(/^drill_runs/);
    passMinutes(1);
    expect(answer(windows.start(request({ id: "another1", isDrill: true }), "bob"))).toMatch(/^until/);
    passMinutes(5);
    expect(windows.list().map(({ id }) => id)).toEqual(["another1"]);
  },
);

test("a window of the configuration is extended and ended early, and the next one is as configured", () => {
  const { windows, passMinutes } = heldWindows([], [PATCH_NIGHT]);
  passMinutes(17);
  const id = windows.list()[0]?.id ?? "";
  expect(answer(windows.extend(id, 60 * MINUTE_MS, "bob"))).toBe("until minute 107");
  passMinutes(23);
  expect(answer(windows.end(id, "carol"))).toBe("until minute 40");
  expect(windows.list()).toMatchObject([
    { id, origin: "configuration", by: undefined, changedBy: "carol", endMs: WALL_MS + 40 * MINUTE_MS },
  ]);
  passMinutes(5);
  expect(windows.list()).toEqual([]);
  passMinutes(24 * 60);
  expect(windows.list()).toMatchObject([{ origin: "configuration" }]);
});
