import { expect, test } from "vitest";
import type { JournalRecord, SubjectRecord } from "../../../src/history/journal/record.ts";
import type { ScaleName } from "../../../src/history/timeline/bins.ts";
import { createTimelines, type Timelines } from "../../../src/history/timeline/timelines.ts";

const HOUR = 3600;
/** 2026-11-26T00:00:00Z */
const BEGIN_MS = Date.parse("2026-11-26T00:00:00Z");
const SHOP = { kind: "website", cluster: "ams", id: 1, name: "shop", protocol: "https" } as const;

const at = (seconds: number): string => new Date(BEGIN_MS + seconds * 1000).toISOString();

function site(seconds: number, state: string): JournalRecord {
  return { at: at(seconds), ...SHOP, address: "192.0.2.1:443", state };
}

function run(seconds: number, why: "start" | "gap" | "day" = "start"): JournalRecord {
  return { at: at(seconds), kind: "run", v: 1, why, version: "1.0.0", shard: "0/1" };
}

const alive = (seconds: number): JournalRecord => ({ at: at(seconds), kind: "alive" });

function after(...records: readonly JournalRecord[]): Timelines {
  const timelines = createTimelines();
  for (const record of records) timelines.read(record);
  return timelines;
}

const SIGNS = { up: "_", impaired: "i", planned: "P", down: "D", unknown: "?" } as const;

/** The bins, of which equal ones in a row are counted, and the sums in seconds. */
function shown(
  timelines: Timelines,
  seconds: number,
  scale: ScaleName = "day",
  of: Parameters<Timelines["strip"]>[0] = SHOP,
): string {
  const strip = timelines.strip(of, scale, BEGIN_MS + seconds * 1000);
  if (strip === undefined) return "nothing";
  const signs = strip.bins.map((band) => SIGNS[band]).join("");
  const bins = signs.replace(/(.)\1+/g, (all, sign) => `${sign}${all.length}`);
  const { upMs, downs, downMs, unknownMs } = strip;
  const knownMs = upMs + downMs;
  const up = ((100 * upMs) / knownMs).toFixed(2);
  return `${bins} up ${up} %, ${downs} x ${downMs / 1000}, unknown ${unknownMs / 1000}, known ${knownMs / 1000}`;
}

test.each<readonly [string, Timelines, number, string]>([
  ["a website that was never seen has no strip", after(run(0)), HOUR, "nothing"],
  [
    "what was before the first sight is unknown, and does not count",
    after(run(0), site(0, "up")),
    HOUR,
    "?92_4 up 100.00 %, 0 x 0, unknown 0, known 3600",
  ],
  [
    "a bin of which exactly half is unknown shows what is known",
    after(run(0), site(0, "up"), alive(450), run(900), site(900, "up")),
    HOUR,
    "?92_4 up 100.00 %, 0 x 0, unknown 450, known 3150",
  ],
  [
    "a bin of which more than half is unknown is unknown",
    after(run(0), site(0, "up"), alive(449), run(900), site(900, "up")),
    HOUR,
    "?93_3 up 100.00 %, 0 x 0, unknown 451, known 3149",
  ],
  [
    "a short outage is the worst of its bin",
    after(run(0), site(0, "up"), site(HOUR, "down"), site(HOUR + 12, "up")),
    2 * HOUR,
    "?88_4D_3 up 99.83 %, 1 x 12, unknown 0, known 7200",
  ],
  [
    "two outages in one bin are two",
    after(run(0), site(0, "up"), site(10, "down"), site(20, "up"), site(30, "down"), site(40, "up")),
    HOUR,
    "?92D_3 up 99.44 %, 2 x 20, unknown 0, known 3600",
  ],
  [
    "one outage over bins is one, also while it changes its state",
    after(
      run(0),
      site(0, "up"),
      site(HOUR, "down"),
      site(HOUR + 1000, "down_at_master"),
      site(2 * HOUR, "up"),
    ),
    3 * HOUR,
    "?84_4D4_4 up 66.67 %, 1 x 3600, unknown 0, known 10800",
  ],
  [
    "an outage that lasts counts until now",
    after(run(0), site(0, "up"), site(HOUR, "down")),
    2 * HOUR,
    "?88_4D4 up 50.00 %, 1 x 3600, unknown 0, known 7200",
  ],
  [
    "impaired is up",
    after(run(0), site(0, "up"), site(HOUR, "unstable"), site(HOUR + 60, "up")),
    2 * HOUR,
    "?88_4i_3 up 100.00 %, 0 x 0, unknown 0, known 7200",
  ],
  [
    "a time without the exporter is unknown",
    after(run(0), site(0, "up"), alive(HOUR), run(2 * HOUR), site(2 * HOUR + 1, "up")),
    3 * HOUR,
    "?84_4?4_4 up 100.00 %, 0 x 0, unknown 3601, known 7199",
  ],
  [
    "a short restart is no gap to be seen",
    after(run(0), site(0, "up"), alive(HOUR), run(HOUR + 5), site(HOUR + 6, "up")),
    2 * HOUR,
    "?88_8 up 100.00 %, 0 x 0, unknown 6, known 7194",
  ],
  [
    "an outage that goes on after a restart is one",
    after(run(0), site(0, "down"), alive(HOUR), run(HOUR + 5), site(HOUR + 6, "down")),
    2 * HOUR,
    "?88D8 up 0.00 %, 1 x 7194, unknown 6, known 7194",
  ],
  [
    "what is a day old is forgotten",
    after(run(0), site(0, "up"), site(60, "down"), site(120, "up")),
    25 * HOUR,
    "_96 up 100.00 %, 0 x 0, unknown 0, known 86400",
  ],
  [
    "an outage that began before the strip is one of it",
    after(run(0), site(0, "down"), site(2 * HOUR, "up"), site(3 * HOUR, "down"), site(4 * HOUR, "up")),
    25 * HOUR,
    "D4_4D4_84 up 91.67 %, 2 x 7200, unknown 0, known 86400",
  ],
  [
    "so is one that lasted in unknown time when the strip began",
    after(run(0), site(0, "down"), alive(1800), run(2 * HOUR), site(2 * HOUR, "down"), site(3 * HOUR, "up")),
    25 * HOUR,
    "?4D4_88 up 95.65 %, 1 x 3600, unknown 3600, known 82800",
  ],
  [
    "an outage in the bin in which one from before ends is another one",
    after(run(0), site(0, "down"), site(HOUR + 9, "up"), site(HOUR + 19, "down"), site(HOUR + 29, "up")),
    25 * HOUR,
    "D_95 up 99.98 %, 2 x 19, unknown 0, known 86400",
  ],
  [
    "a website that the configuration lacked for an hour is unknown then",
    after(run(0), site(0, "up"), site(60, "down"), site(120, "gone"), site(HOUR + 120, "up")),
    2 * HOUR,
    "?88D?3_4 up 98.33 %, 1 x 60, unknown 3600, known 3600",
  ],
])("%s", (_, timelines, seconds, expected) => {
  expect(shown(timelines, seconds)).toBe(expected);
});

test.each([
  ["that is over", [site(4 * HOUR, "up")], 2 * HOUR],
  ["that goes on", [], 3 * HOUR],
])("the time without an answer %s is a part of the unknown time, and marks each bin", (_, then, seconds) => {
  const timelines = after(run(0), site(0, "up"), site(2 * HOUR, "unknown"), ...then);
  const strips = (["day", "month"] as const).map((scale) =>
    timelines.strip(SHOP, scale, BEGIN_MS + 5 * HOUR * 1000),
  );
  expect(strips.map((strip) => [strip?.unknownMs, strip?.unansweredMs])).toEqual(
    strips.map(() => [seconds * 1000, seconds * 1000]),
  );
  // Less than half of the eight hours.
  expect(strips[1]?.bins.at(-1)).toBe("unknown");
});

const plannedSite = (seconds: number, state: string): JournalRecord => {
  return { ...SHOP, address: "192.0.2.1:443", at: at(seconds), state, isPlanned: true };
};

test.each([
  ["in one run", [], 1],
  ["before the start, and after it", [run(400)], 1],
  ["and another one after it was up", [site(350, "up"), alive(390), run(400)], 2],
])("an outage that is planned for a while is one: %s", (_, between, downs) => {
  const first = [run(0), site(0, "up"), site(60, "down"), plannedSite(120, "down")];
  const later = [plannedSite(400, "down"), site(500, "down"), site(560, "up")];
  const expected = { downs, downMs: 120_000 };
  const one = after(...first, ...between, ...later);
  expect(one.strip(SHOP, "day", BEGIN_MS + HOUR * 1000)).toMatchObject(expected);
  const past = after(...first, ...between.filter(({ kind }) => kind !== "run"), alive(390)).end();
  const restarted = after(run(400), ...later);
  restarted.addPast(past);
  expect(restarted.strip(SHOP, "day", BEGIN_MS + HOUR * 1000)).toMatchObject(expected);
});

test("an outage goes on after a time without an answer, as after any unknown time", () => {
  const timelines = after(
    run(0),
    site(0, "up"),
    site(60, "down"),
    site(120, "unknown"),
    site(180, "down"),
    site(240, "up"),
  );
  expect(timelines.strip(SHOP, "day", BEGIN_MS + HOUR * 1000)).toMatchObject({
    downs: 1,
    downMs: 120_000,
    unansweredMs: 60_000,
  });
});

test("thirty days have bins of eight hours", () => {
  const month = after(run(0), site(0, "up"), site(HOUR, "down"), site(2 * HOUR, "up"), alive(25 * HOUR));
  expect(shown(month, 25 * HOUR, "month")).toBe("?86D_3 up 96.00 %, 1 x 3600, unknown 0, known 90000");
});

test("what was before the start comes in front, and between is unknown", () => {
  const past = after(run(0), site(0, "up"), site(HOUR, "down"), site(HOUR + 60, "up"), alive(2 * HOUR));
  const [changed, lasting] = [
    after(run(3 * HOUR), site(3 * HOUR, "down"), site(3 * HOUR + 30, "up")),
    after(run(3 * HOUR), site(3 * HOUR, "up")),
  ];
  const tracks = past.end();
  for (const each of [changed, lasting]) each.addPast(tracks);
  expect(shown(changed, 4 * HOUR)).toBe("?80_4D_3?4D_3 up 99.17 %, 2 x 90, unknown 3600, known 10800");
  expect(shown(lasting, 4 * HOUR)).toBe("?80_4D_3?4_4 up 99.44 %, 1 x 60, unknown 3600, known 10800");
  expect(shown(lasting, 4 * HOUR, "day", { kind: "exporter" })).toBe(
    "?80_8?4_4 up 100.00 %, 0 x 0, unknown 3600, known 10800",
  );
});

function shop(id: number, cluster = "ams"): SubjectRecord {
  return { at: at(0), ...SHOP, address: "192.0.2.1:443", state: "up", id, cluster };
}

test("what an appliance invents beyond 512 subjects of its cluster takes no memory, and no place of others", () => {
  const timelines = after(run(0), ...Array.from({ length: 600 }, (_, id) => shop(id)), shop(1, "fra"));
  const nowMs = BEGIN_MS + HOUR * 1000;
  const strips = [shop(511), shop(512), shop(1, "fra")].map((each) => timelines.strip(each, "day", nowMs));
  expect(strips.map((strip) => strip?.upMs)).toEqual([HOUR * 1000, undefined, HOUR * 1000]);
});

test("the latest 512 subjects of a cluster that reloads removed are known when they come again", () => {
  const removed = Array.from({ length: 600 }, (_, id) => [
    { ...shop(id), at: at(id) },
    { ...shop(id), at: at(id + 1), state: "gone" },
  ]);
  const timelines = after(run(0), ...removed.flat(), alive(HOUR), shop(87), shop(88));
  const nowMs = BEGIN_MS + HOUR * 1000;
  const strips = [shop(86), shop(87), shop(88)].map((each) => timelines.strip(each, "day", nowMs));
  expect(strips.map((strip) => strip?.sinceMs)).toEqual([undefined, nowMs, BEGIN_MS + 88_000]);
});

test.each([
  ["goes on", [site(2 * HOUR, "down"), site(3 * HOUR, "up")], "1 x 10800, unknown 3600"],
  ["still lasts", [site(2 * HOUR, "down")], "1 x 14400, unknown 3600"],
  [
    "comes again",
    [site(2 * HOUR, "up"), site(2 * HOUR + 1, "down"), site(3 * HOUR + 1, "up")],
    "2 x 10800, unknown 3600",
  ],
])("an outage before the start that %s is counted so", (_, records, expected) => {
  const timelines = after(run(2 * HOUR), ...records);
  timelines.addPast(after(run(-HOUR), site(-HOUR, "down"), alive(HOUR)).end());
  expect(shown(timelines, 4 * HOUR)).toContain(expected);
});
