import { createFleet } from "../../src/exporter/fleet/fleet.ts";
import type { ClusterSnapshot } from "../../src/exporter/fleet/snapshot.ts";
import { judge } from "../../src/exporter/judge/judge.ts";
import { ownProblems, stuckProblem, type OwnFacts } from "../../src/exporter/judge/own-problems.ts";
import { alertOf } from "../../src/exporter/judge/states.ts";
import type { Scope } from "../../src/exporter/maintenance/window.ts";
import { createFleetExposition } from "../../src/exporter/metrics/exposition.ts";
import { FLEET_FAMILIES } from "../../src/exporter/metrics/families.ts";
import type { Observation } from "../../src/exporter/polling/observation.ts";
import { incidentsAfter } from "../../src/exporter/story/incidents.ts";
import type { Observed } from "../../src/exporter/story/state-changes.ts";
import type { Instant } from "../../src/support/clock.ts";
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
  type Circumstances,
  type ListExtras,
} from "../support/observations.ts";
import { PROBES, ALERTS, RECORDS } from "./alert-rules.ts";
import { metricNames } from "./promql.ts";
import { steps, type Labels, type Series, type Steps } from "./world.ts";

/**
 * What happens to a cluster, as its members answer. A member says the state of each VIP: `MASTER`, `BACKUP+MASTER`; or it is `silent`,
 * `refuses` the password, shows `another certificate`, cannot be polled as the exporter is `broken`, or is not asked as its schedule is
 * `resting`.
 */
export interface Course {
  readonly cluster: string;
  readonly labels?: Labels;
  /** By name, the preferred master first, each with a lower priority than the one before. */
  readonly members: Readonly<Record<string, Steps<string>>>;
  /** By website and member: the status by HTTPS, or `untested`; `200 http` is one by HTTP alone. Default: shop, 200 at all members. */
  readonly websites?: Readonly<Record<string, Readonly<Record<string, Steps<string | number>>>>>;
  readonly works?: readonly Work[];
  /** A member that is disabled in the configuration. */
  readonly disabled?: string;
  /** More that a member's list says from a second on. */
  readonly list?: (member: string, second: number) => ListExtras & Pick<Circumstances, "certificate">;
  /** More polls than those of lists and websites. If there are any, members discover their websites. */
  readonly more?: (second: number, given: Circumstances) => readonly Observation[];
}

/** Planned work between two seconds. */
export interface Work {
  readonly from: number;
  readonly to: number;
  readonly on: Partial<Scope>;
}

/** Members and their websites are polled so often: what happens is seen up to so much later. */
export const POLL_SECONDS = 5;
/** An exporter still knows a window so long after its end. */
const REMEMBERED_SECONDS = 300;
const USED = new Set([...ALERTS, ...RECORDS, ...PROBES.records].flatMap(({ expr }) => metricNames(expr)));
const FAMILIES = Object.fromEntries(
  Object.entries(FLEET_FAMILIES).filter(([name]) => USED.has(name) || /problem|failure_info/.test(name)),
);

/** Returns what an exporter says of these clusters and of itself in so many seconds, as far as rules and texts use it. */
export async function judged(
  courses: readonly Course[],
  lastsSeconds: number,
  ownAt: (second: number) => Partial<OwnFacts> = () => ({}),
): Promise<readonly Series[]> {
  const clusters = courses.map((course) => verdictsOf(course, lastsSeconds));
  const fleet = await Promise.all(clusters.map(seriesOf));
  const own = clusters[0]?.map((_, step) => {
    const verdicts = clusters.flatMap((each) => each[step] ?? []);
    return ownSamples(verdicts, ownAt(step * POLL_SECONDS));
  });
  return [...fleet.flat(), ...overTime(own ?? [])];
}

type Samples = ReadonlyMap<string, Omit<Series, "valueAt"> & { readonly value: number }>;

async function seriesOf(verdicts: readonly Told[]): Promise<readonly Series[]> {
  const { render } = createFleetExposition({ families: FAMILIES });
  const scrapes: Samples[] = [];
  let before: string | undefined;
  for (const verdict of verdicts) {
    const text = (await render("", [verdict], incidentsIn([verdict]))).join("");
    const same = text === before ? scrapes.at(-1) : undefined;
    scrapes.push(same ?? samplesIn(text));
    before = text;
  }
  return overTime(scrapes);
}

/** The clock of promtool begins at 0, that of the exporter at `WALL_MS`. */
function samplesIn(text: string): Samples {
  const samples = parseExposition(text).flatMap((family) => family.samples);
  return new Map(
    samples.map(({ series, name, labels, value }) => {
      const own = name.endsWith("_timestamp_seconds") ? value - WALL_MS / 1000 : value;
      return [series, { metric: name, labels: Object.fromEntries(labels), value: own }];
    }),
  );
}

function overTime(scrapes: readonly Samples[]): readonly Series[] {
  const all = new Map(scrapes.flatMap((samples) => [...samples]));
  return Array.from(all, ([name, { metric, labels }]) => {
    // It goes on as it ends.
    const valueAt = (second: number) =>
      scrapes[Math.min(Math.floor(second / POLL_SECONDS), scrapes.length - 1)]?.get(name)?.value;
    return { metric, labels, valueAt };
  });
}

function ownSamples(verdicts: readonly Told[], facts: Partial<OwnFacts>): Samples {
  const problems = [...ownProblems(verdicts, facts), ...stuckProblem(verdicts)];
  const samples = problems.flatMap(({ kind, severity, summary, advice }) => [
    {
      metric: "appliance_exporter_problem",
      labels: { kind, severity, alert: alertOf(kind) ?? "" },
      value: 1,
    },
    { metric: "appliance_exporter_problem_words_info", labels: { kind, summary, advice }, value: 1 },
  ]);
  return new Map(samples.map((each) => [JSON.stringify(each), each]));
}

/** The verdicts after the polls of each step. */
function verdictsOf(course: Course, lastsSeconds: number): readonly Told[] {
  const { cluster, labels = {}, works = [], disabled } = course;
  const websites = Object.keys(websitesOf(course)).map((name, nth) => websiteOf({ id: nth + 2, name }));
  const discovery = course.more === undefined ? undefined : { exclude: [], limit: 200 };
  const members = Object.keys(course.members).map((name) =>
    applianceOf({
      name,
      cluster,
      isAlone: Object.keys(course.members).length === 1,
      labels,
      enabled: name !== disabled,
      websites: discovery === undefined ? websites : [],
      discovery,
    }),
  );
  const fleet = createFleet();
  fleet.configure(configOf(...members), 0);
  let told: Told | undefined;
  const step = (facts: ClusterSnapshot, at: Instant, observed?: Observed) => {
    const second = at.monotonicMs / 1000;
    const begun = works.filter(({ from, to }) => second >= from && second < to + REMEMBERED_SECONDS);
    const now = judge(facts, told, at, { windows: begun.map(windowFor) });
    const change = { before: told, now, at, observed, ongoing: undefined, start: undefined };
    const incidents = incidentsAfter({ ...change, known: told?.incidents });
    told = now === told && incidents === told.incidents ? told : { ...now, incidents };
  };
  const verdicts: Told[] = [];
  for (let second = 0; second <= lastsSeconds; second += POLL_SECONDS) {
    const at = { wallMs: WALL_MS + second * 1000, monotonicMs: second * 1000 };
    for (const observation of pollsAt(second, course)) {
      const { changes, cluster: facts } = fleet.record(observation, at.monotonicMs);
      if (facts === undefined) throw new Error("the appliance is configured");
      step(facts, at, { appliance: observation.appliance, changes, sinceMs: observation.sinceMs });
    }
    // Results of schedules that rest end without a poll.
    const facts = fleet.cluster(cluster, at.monotonicMs);
    if (told !== undefined && facts !== undefined) step(facts, at);
    if (told !== undefined) verdicts.push(told);
  }
  return verdicts;
}

function windowFor({ from, to, on }: Work) {
  const times = { beginMs: WALL_MS + from * 1000, endMs: WALL_MS + to * 1000 };
  return windowOf(on, { id: `from${from}`, ...times });
}

function websitesOf({ websites = { shop: {} } }: Course) {
  return websites;
}

const LASTING = { expiresAtMs: Number.MAX_SAFE_INTEGER };

/** The end of the last result before a rest, which is that of the exporter: five minutes later. */
function restsSoon(second: number) {
  const rest = { untilMs: WALL_MS + 7_200_000, stalledAtMs: Number.MAX_SAFE_INTEGER };
  return { expiresAtMs: (second + 300) * 1000, rest };
}

const FAILING = {
  silent: "timeout",
  refuses: "auth",
  "another certificate": "tls",
  broken: "local",
} as const;

function isFailing(state: string): state is keyof typeof FAILING {
  return Object.hasOwn(FAILING, state);
}

/** 192.0.2.100 and those after it, or many. */
function vipOf(nth: number): string {
  return nth < 100 ? `192.0.2.${100 + nth}` : `198.18.${nth >> 8}.${nth & 255}`;
}

const NO_EXTRAS: NonNullable<Course["list"]> = () => ({});

/** Each member, and its websites. */
function pollsAt(second: number, course: Course): readonly Observation[] {
  const { members, disabled, list = NO_EXTRAS, more = () => [] } = course;
  const own = Object.entries(members).flatMap(([name, states], nth) => {
    const stateAt = steps(states);
    const state = stateAt(second) ?? "silent";
    if (state === "resting" || name === disabled) return [];
    const ends = stateAt(second + POLL_SECONDS) === "resting" ? restsSoon(second) : LASTING;
    const given = { sentAtMs: second * 1000, completedAtMs: WALL_MS + second * 1000, ...ends };
    const websites = (course.more === undefined ? Object.values(websitesOf(course)) : []).map(
      (at, website) => {
        const status = steps(at[name] ?? [[0, 200]])(second) ?? 200;
        const [code, isHttp] = String(status).split(" ");
        const blocks = [{ protocol: isHttp === undefined ? "https" : "http", status: Number(code) } as const];
        return isFailing(state) || status === "untested"
          ? failed.website(name, website + 2, isFailing(state) ? FAILING[state] : "timeout", given)
          : seen.website(name, website + 2, blocks, given);
      },
    );
    if (isFailing(state)) return [failed.vrrp(name, FAILING[state], given), ...websites];
    const role = nth === 0 ? "master" : "backup";
    const interfaces = state.split("+").map((each, vip) => {
      const place = { name: `carp${vip}`, vhid: (vip % 250) + 2, vip: vipOf(vip) };
      return interfaceOf({ ...place, state: each, priority: 200 - nth * 50, configuredRole: role });
    });
    const { certificate, ...extras } = list(name, second);
    const heard = { ...given, ...(certificate === undefined ? {} : { certificate }) };
    return [seen.vrrp(name, listOf(interfaces, extras), heard), ...websites];
  });
  return [...own, ...more(second, { sentAtMs: second * 1000, ...LASTING })];
}
