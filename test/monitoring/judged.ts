import { createFleet } from "../../src/exporter/fleet/fleet.ts";
import type { ClusterSnapshot } from "../../src/exporter/fleet/snapshot.ts";
import type { MaintenanceWindow, Scope } from "../../src/exporter/maintenance/window.ts";
import { createFleetExposition } from "../../src/exporter/metrics/exposition.ts";
import { FLEET_FAMILIES } from "../../src/exporter/metrics/families.ts";
import type { Observation } from "../../src/exporter/polling/observation.ts";
import type { Observed } from "../../src/exporter/story/state-changes.ts";
import { judge } from "../../src/exporter/judge/judge.ts";
import type { Instant } from "../../src/support/clock.ts";
import type { ClusterIncidents } from "../../src/exporter/story/incident.ts";
import { incidentsAfter } from "../../src/exporter/story/incidents.ts";
import type { ClusterVerdict } from "../../src/exporter/judge/verdict.ts";
import { incidentsIn, type Told } from "../exporter/judge/support.ts";
import { windowOf } from "../exporter/maintenance/support.ts";
import { parseExposition } from "../exporter/metrics/strict-parser.ts";
import {
  applianceOf,
  configOf,
  failed,
  interfaceOf,
  listOf,
  seen,
  WALL_MS,
  websiteOf,
} from "../support/observations.ts";
import { ALERTS, RECORDS } from "./alert-rules.ts";
import { metricNames } from "./promql.ts";
import { steps, type Labels, type Series, type Steps } from "./world.ts";

/** What a member answers: the state of its only VIP, or nothing. Or it is not asked, as its schedule rests. */
export type MemberState = "MASTER" | "BACKUP" | "silent" | "resting";

/** What happens to a cluster. */
export interface Course {
  readonly cluster: string;
  readonly labels?: Labels;
  /** By name, the preferred master first, each with a lower priority than the one before. */
  readonly members: Readonly<Record<string, Steps<MemberState>>>;
  /** By member: the status that its website, `shop`, answers by HTTPS; default: 200. */
  readonly shop?: Readonly<Record<string, Steps<number>>>;
}

/** Planned work between two seconds. */
export interface Work {
  readonly from: number;
  readonly to: number;
  readonly on: Partial<Scope>;
}

/** Members and their websites are polled so often. */
const POLL_SECONDS = 5;
/** An exporter still knows a window so long after its end. */
const REMEMBERED_SECONDS = 300;
const SHOP = { id: 2, name: "shop" };
const USED = new Set([...ALERTS, ...RECORDS].flatMap(({ expr }) => metricNames(expr)));
const FAMILIES = Object.fromEntries(Object.entries(FLEET_FAMILIES).filter(([name]) => USED.has(name)));

/** Returns what an exporter says of a cluster in so many seconds, as far as rules use it. */
export async function judged(
  course: Course,
  works: readonly Work[],
  lastsSeconds: number,
): Promise<readonly Series[]> {
  const { render } = createFleetExposition({ families: FAMILIES });
  const scrapes: ReadonlyMap<string, Sample>[] = [];
  let before = "";
  for (const verdict of verdictsOf(course, works, lastsSeconds)) {
    const text = (await render("", [verdict], incidentsIn([verdict]))).join("");
    const same = text === before ? scrapes.at(-1) : undefined;
    scrapes.push(same ?? samplesIn(text));
    before = text;
  }
  const all = new Map(scrapes.flatMap((samples) => [...samples]));
  return Array.from(all, ([name, { metric, labels }]) => {
    const valueAt = (second: number) => scrapes[Math.floor(second / POLL_SECONDS)]?.get(name)?.value;
    return { metric, labels, valueAt };
  });
}

interface Sample extends Pick<Series, "metric" | "labels"> {
  readonly value: number;
}

function samplesIn(text: string): ReadonlyMap<string, Sample> {
  const samples = parseExposition(text).flatMap((family) => family.samples);
  return new Map(
    samples.map(({ series, name, labels, value }) => [
      series,
      { metric: name, labels: Object.fromEntries(labels), value },
    ]),
  );
}

/** The verdicts after the polls of each step. */
function* verdictsOf(
  course: Course,
  works: readonly Work[],
  lastsSeconds: number,
): Generator<ClusterVerdict> {
  const { cluster, labels = {} } = course;
  const members = Object.keys(course.members).map((name) =>
    applianceOf({ name, cluster, labels, websites: [websiteOf(SHOP)] }),
  );
  const fleet = createFleet();
  fleet.configure(configOf(...members), 0);
  let told: Told | undefined;
  let before: ClusterVerdict | undefined;
  const step = (
    facts: ClusterSnapshot,
    at: Instant,
    windows: readonly MaintenanceWindow[],
    observed?: Observed,
  ) => {
    const now = judge(facts, before, at, { windows });
    const known: ClusterIncidents | undefined = told?.incidents;
    told = {
      ...now,
      incidents: incidentsAfter({ known, before, now, at, observed, ongoing: undefined, start: undefined }),
    };
    before = now;
  };
  for (let second = 0; second <= lastsSeconds; second += POLL_SECONDS) {
    const at = { wallMs: WALL_MS + second * 1000, monotonicMs: second * 1000 };
    const begun = works.filter(({ from, to }) => second >= from && second < to + REMEMBERED_SECONDS);
    const windows = begun.map(windowFor);
    for (const observation of pollsAt(second, course)) {
      const { changes, cluster: facts } = fleet.record(observation, at.monotonicMs);
      if (facts === undefined) throw new Error("the appliance is configured");
      const observed = { appliance: observation.appliance, changes, sinceMs: observation.sinceMs };
      step(facts, at, windows, observed);
    }
    // Results of schedules that rest end without a poll.
    const facts = fleet.cluster(cluster, at.monotonicMs);
    if (told !== undefined && facts !== undefined) step(facts, at, windows);
    if (told !== undefined) yield told;
  }
}

function windowFor({ from, to, on }: Work): MaintenanceWindow {
  const times = { beginMs: WALL_MS + from * 1000, endMs: WALL_MS + to * 1000 };
  return windowOf(on, { id: `from${from}`, ...times });
}

const LASTING = { expiresAtMs: Number.MAX_SAFE_INTEGER };

/** The end of the last result before a rest, which is that of the exporter: five minutes later. */
function restsSoon(second: number) {
  const rest = { untilMs: WALL_MS + 7_200_000, stalledAtMs: Number.MAX_SAFE_INTEGER };
  return { expiresAtMs: (second + 300) * 1000, rest };
}

/** Each member, and its website. */
function pollsAt(second: number, { members, shop = {} }: Course): readonly Observation[] {
  return Object.entries(members).flatMap(([name, states], nth) => {
    const stateAt = steps(states);
    const state = stateAt(second) ?? "silent";
    if (state === "resting") return [];
    const ends = stateAt(second + POLL_SECONDS) === "resting" ? restsSoon(second) : LASTING;
    const given = { sentAtMs: second * 1000, ...ends };
    if (state === "silent")
      return [failed.vrrp(name, "timeout", given), failed.website(name, SHOP.id, "timeout", given)];
    const role = nth === 0 ? "master" : "backup";
    const carp = interfaceOf({ state, priority: 200 - nth * 50, configuredRole: role });
    const status = steps(shop[name] ?? [[0, 200]])(second) ?? 200;
    return [
      seen.vrrp(name, listOf([carp]), given),
      seen.website(name, SHOP.id, [{ protocol: "https", status }], given),
    ];
  });
}
