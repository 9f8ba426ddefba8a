import type { ApplianceConfig, Config, MaintenanceConfig } from "../config/config.ts";
import type { ClusterSnapshot } from "../fleet/snapshot.ts";
import type { Clock } from "../../support/clock.ts";
import { kept, memo } from "../../support/kept.ts";
import { shortHash } from "../../support/short-hash.ts";
import { accountOf } from "./local-user.ts";
import { comingOf, currentOf, type Occurrence } from "./recurring.ts";
import {
  coverageOf,
  covers,
  elsewhereWords,
  windowsElsewhere,
  type MaintenanceWindow,
  type Scope,
  type WindowElsewhere,
} from "./window.ts";

/** The reason why a window cannot be started, extended or ended. */
export type WindowError =
  | "covers_nothing"
  | "too_many"
  | "too_long"
  | "unknown_id"
  | "duplicate_id"
  | "planned_elsewhere"
  | "drill_runs";

export type WindowResult =
  | { readonly ok: true; readonly window: MaintenanceWindow }
  | { readonly ok: false; readonly reason: WindowError; readonly message: string };

/** A window that a client wants to start. */
export interface StartRequest extends Pick<MaintenanceWindow, "id" | "scope" | "comment"> {
  readonly forMs: number;
  readonly isDrill: boolean;
  /** The ids of windows on other members of the same clusters that do not prevent this one. */
  readonly despite?: readonly string[];
}

/**
 * The windows of planned work that the exporter knows. Windows by command end at most 24 hours from now. A user has 50 places: each start or
 * extension takes one for a minute, and the latest one of a window keeps it while the window runs or mutes failovers. So no user can keep
 * another one from starting a window, and the windows and changes of a user that all others pay for are few.
 */
export interface Windows {
  /** Sets the configuration. Windows cover appliances that are enabled; windows that were started by command stay. */
  configure(config: Pick<Config, "appliances" | "maintenance">): void;
  start(request: StartRequest, by: string): WindowResult;
  /** Extends a window by `forMs`. */
  extend(id: string, forMs: number, user: string): WindowResult;
  end(id: string, user: string): WindowResult;
  /** Returns the windows that run, and those that ended in the last five minutes. */
  list(): readonly MaintenanceWindow[];
  /** Returns the next window of each entry of the configuration that has not begun, by its begin. */
  coming(): readonly MaintenanceWindow[];
  /** Returns the windows of `list` that were started, extended or ended by command. */
  commanded(): readonly MaintenanceWindow[];
  /** Returns the windows of `list` that cover a part of a cluster. */
  covering(facts: ClusterSnapshot): readonly MaintenanceWindow[];
}

export interface WindowsDeps {
  readonly clock: Clock;
  /** The windows of an earlier run. */
  readonly restored: readonly MaintenanceWindow[];
  /** Reports a window that began, was ended, or has another end by the wall clock. */
  readonly onChange: (window: MaintenanceWindow) => void;
  /** Whether a window mutes a failover of the last five minutes. */
  readonly isMuting: (window: MaintenanceWindow) => boolean;
  /** Reports all appliances of the cluster in which a drill runs now; none without a drill. */
  readonly onDrill: (appliances: ReadonlySet<string>) => void;
}

const MAX_PLACES = 50;
/** A start or an extension takes a place for this long, and a window after its end: a failover may be seen seconds after it happened. */
const PLACE_MS = 60_000;
const MAX_MS = 24 * 3_600_000;
/** The wall clock was set if it diverges from the monotonic clock by more than this. */
const TOLERANCE_MS = 2000;
const MAX_DRILL_MS = 30 * 60_000;
/** Alerts about failovers continue for this long. */
const REMEMBERED_MS = 300_000;
const NONE: readonly MaintenanceWindow[] = [];

/** The place of a user that a start or an extension takes. */
interface WindowPlace {
  readonly user: string;
  /** The id of the window. */
  readonly id: string;
  /** Monotonic time. */
  readonly atMs: number;
}

export function createWindows({ clock, restored, onChange, isMuting, onDrill }: WindowsDeps): Windows {
  let appliances: readonly ApplianceConfig[] = [];
  let windows: readonly MaintenanceWindow[] = restored;
  /** At most 50 of each user, oldest first. */
  let places = restored.flatMap(({ id, by, changedBy = by }): readonly WindowPlace[] =>
    changedBy === undefined ? [] : [{ user: accountOf(changedBy), id, atMs: clock.monotonicMs() }],
  );
  let recurring: readonly MaintenanceConfig[] = [];
  let listed = NONE;
  let occurrences = { second: Number.NaN, windows: NONE };
  let drillEnds: NodeJS.Timeout | undefined;
  let wallOffsetMs = clock.wallMs() - clock.monotonicMs();

  const isRecent = ({ endMs }: MaintenanceWindow): boolean => endMs + REMEMBERED_MS > clock.wallMs();

  const isNeeded = (window: MaintenanceWindow): boolean =>
    isRecent(window) || occurring().some(({ id }) => id === window.id);

  /** Returns the windows by command that did not end long ago. An occurrence of the configuration stays until its original end. */
  function current(): readonly MaintenanceWindow[] {
    followClock();
    if (!windows.every(isNeeded)) windows = windows.filter(isNeeded);
    return windows;
  }

  /** Adjusts windows by command, which keep their durations if the wall clock is set meanwhile. */
  function followClock(): void {
    const jumpMs = clock.wallMs() - clock.monotonicMs() - wallOffsetMs;
    if (Math.abs(jumpMs) <= TOLERANCE_MS) return;
    wallOffsetMs += jumpMs;
    windows = windows.map((window) => ({
      ...window,
      beginMs: window.beginMs + jumpMs,
      endMs: window.endMs + jumpMs,
    }));
    for (const window of windows.filter(isRecent)) onChange(window);
  }

  /** Returns the windows of the configuration, which are computed once a second. */
  function occurring(): readonly MaintenanceWindow[] {
    const nowMs = clock.wallMs();
    const second = Math.floor(nowMs / 1000);
    if (occurrences.second !== second) occurrences = { second, windows: occurrencesAt(recurring, nowMs) };
    return occurrences.windows;
  }

  /** Returns all windows, the same list while none changes. An occurrence that was ended or extended by command is a window by command. */
  function list(): readonly MaintenanceWindow[] {
    const own = current();
    const ids = new Set(own.map(({ id }) => id));
    listed = kept(listed, [...own.filter(isRecent), ...occurring().filter(({ id }) => !ids.has(id))]);
    return listed;
  }

  function running(): readonly MaintenanceWindow[] {
    const nowMs = clock.wallMs();
    return list().filter(({ endMs }) => endMs > nowMs);
  }

  /** Reports the drill that runs, now and when it ends. */
  function followDrill(): void {
    clearTimeout(drillEnds);
    const drill = running().find(({ origin }) => origin === "drill");
    const covered = drill === undefined ? [] : appliances.filter((each) => covers(drill.scope, each));
    const clusters = new Set(covered.map(({ cluster }) => cluster));
    const members = appliances.filter(({ cluster }) => clusters.has(cluster));
    onDrill(new Set(members.map(({ name }) => name)));
    if (drill !== undefined) drillEnds = setTimeout(followDrill, drill.endMs - clock.wallMs()).unref();
  }

  const isYoung = ({ atMs }: WindowPlace): boolean => clock.monotonicMs() - atMs < PLACE_MS;

  /** Returns the window that needs a place or needed it last. Who extends a window takes it over. */
  function windowAt(place: WindowPlace): MaintenanceWindow | undefined {
    const isLatest = places.findLast(({ id }) => id === place.id) === place;
    return isLatest ? current().find(({ id }) => id === place.id) : undefined;
  }

  function isTaken(place: WindowPlace): boolean {
    if (isYoung(place)) return true;
    const window = windowAt(place);
    return window !== undefined && (window.endMs + PLACE_MS > clock.wallMs() || isMuting(window));
  }

  /**
   * Takes a place of a user for a window. If all are in use, it takes the first one that is free, and forgets the window there, which is
   * over. Returns whether there was one.
   */
  function takePlace(by: string, id: string): boolean {
    const user = accountOf(by);
    const own = places.filter((each) => each.user === user);
    const isFree = (each: WindowPlace): boolean => !isTaken(each) || (each.id === id && !isYoung(each));
    const free = own.length < MAX_PLACES ? undefined : own.find(isFree);
    if (own.length >= MAX_PLACES && free === undefined) return false;
    const over = free && free.id !== id ? windowAt(free) : undefined;
    // An occurrence of the configuration that was ended would run again.
    const isOccurring = occurring().some((each) => each.id === over?.id);
    if (over !== undefined && !isOccurring) windows = windows.filter((each) => each !== over);
    places = [...places.filter((each) => each !== free), { user, id, atMs: clock.monotonicMs() }];
    return true;
  }

  function put(window: MaintenanceWindow): WindowResult {
    windows = [...current().filter(({ id }) => id !== window.id), window];
    onChange(window);
    followDrill();
    return { ok: true, window };
  }

  /** Changes the end of a window, unless the window has ended. */
  function ending(id: string, endMs: number, changedBy: string): WindowResult {
    const window = running().find((each) => each.id === id);
    if (window === undefined) return refused("unknown_id", `no window ${id} runs`);
    return put({ ...window, endMs, changedBy });
  }

  return {
    configure: (config) => {
      appliances = config.appliances.filter(({ enabled }) => enabled);
      recurring = config.maintenance;
      occurrences = { second: Number.NaN, windows: NONE };
      followDrill();
    },
    start: ({ id, scope, comment, forMs, isDrill, despite = [] }, by) => {
      const own = running();
      const mostMs = isDrill ? MAX_DRILL_MS : MAX_MS;
      const unknown = unknownIn(scope, appliances);
      if (unknown !== undefined) return refused("covers_nothing", unknown);
      if (forMs > mostMs) return refused("too_long", `a window may last ${mostMs / 60_000} minutes at most`);
      if (list().some((each) => each.id === id)) return refused("duplicate_id", `there is a window ${id}`);
      const drill = own.find(({ origin }) => origin === "drill");
      if (isDrill && drill !== undefined)
        return refused("drill_runs", `the drill ${drill.id} runs: one at a time`);
      const elsewhere = windowsBeside(scope, own, appliances).find(
        ({ window }) => !despite.includes(window.id),
      );
      if (elsewhere !== undefined)
        return refused(
          "planned_elsewhere",
          `${elsewhereWords(elsewhere)}; wait for its end, or start this one with --despite=${elsewhere.window.id}`,
        );
      if (!takePlace(by, id)) return tooMany(by);
      const beginMs = clock.wallMs();
      const origin = isDrill ? "drill" : "command";
      return put({ id, scope, beginMs, endMs: beginMs + forMs, comment, by, origin });
    },
    extend: (id, forMs, user) => {
      const window = running().find((each) => each.id === id);
      const { origin, endMs = 0 } = window ?? {};
      const latestMs = clock.wallMs() + MAX_MS;
      if (origin === "drill" || forMs > MAX_MS || endMs + forMs > latestMs)
        return refused(
          "too_long",
          "a window may end 24 hours from now at most, and a drill cannot be extended",
        );
      if (window !== undefined && !takePlace(user, id)) return tooMany(user);
      return ending(id, endMs + forMs, user);
    },
    end: (id, user) => ending(id, clock.wallMs(), user),
    list,
    coming: () => comingAt(recurring, clock.wallMs()),
    commanded: current,
    covering: ({ cluster, labels, appliances: members, disabled }) => {
      const [all, [first]] = [list(), members];
      if (all.length === 0 || first === undefined) return NONE;
      // Each identity belongs to one cluster.
      const identities = members.map(({ identity }) => identity);
      return coveringOf(first.identity, { all, cluster, labels, identities, disabled });
    },
  };
}

/** Returns those of the windows that cover a part of a cluster. Each poll needs them, and few polls come after a change of them. */
const coveringOf = memo(
  (
    { all, cluster, labels, identities, disabled }: CoveringInputs,
    before: readonly MaintenanceWindow[] | undefined,
  ) => {
    const facts = { cluster, labels, appliances: identities.map((identity) => ({ identity })), disabled };
    return kept(
      before,
      all.filter(({ scope }) => coverageOf(scope, facts) !== undefined),
    );
  },
);

interface CoveringInputs extends Pick<ClusterSnapshot, "cluster" | "labels" | "disabled"> {
  readonly all: readonly MaintenanceWindow[];
  readonly identities: readonly ClusterSnapshot["appliances"][number]["identity"][];
}

/** Returns the windows of the configuration at a Unix time in milliseconds, also those that ended in the last five minutes. */
export function occurrencesAt(
  recurring: readonly MaintenanceConfig[],
  nowMs: number,
): readonly MaintenanceWindow[] {
  return recurring.flatMap((entry) => occurrenceOf(entry, currentOf(entry, nowMs)));
}

/** Returns the next windows of the configuration after a Unix time in milliseconds, by their begin. */
function comingAt(recurring: readonly MaintenanceConfig[], nowMs: number): readonly MaintenanceWindow[] {
  const coming = recurring.flatMap((entry) => occurrenceOf(entry, comingOf(entry, nowMs)));
  return coming.toSorted((one, other) => one.beginMs - other.beginMs);
}

function occurrenceOf(
  { name, scope, comment }: MaintenanceConfig,
  occurrence: Occurrence | undefined,
): readonly MaintenanceWindow[] {
  if (occurrence === undefined) return NONE;
  const id = shortHash([name, occurrence.beginMs])
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "0");
  return [{ id, scope, ...occurrence, comment, by: undefined, origin: "configuration" }];
}

/** Returns the windows on other members of the clusters of which a scope covers a part. */
function windowsBeside(
  scope: Scope,
  windows: readonly MaintenanceWindow[],
  all: readonly ApplianceConfig[],
): readonly WindowElsewhere[] {
  const own = all.filter((each) => covers(scope, each));
  const clusters = new Set(own.map(({ cluster }) => cluster));
  const members = all.filter(({ cluster }) => clusters.has(cluster));
  const covering = windows.map((window) => {
    return { window, members: members.filter((each) => covers(window.scope, each)).map(({ name }) => name) };
  });
  return windowsElsewhere(covering, new Set(own.map(({ name }) => name)));
}

function refused(reason: WindowError, message: string): WindowResult {
  return { ok: false, reason, message };
}

function tooMany(user: string): WindowResult {
  const most = `${accountOf(user)} has started or extended ${MAX_PLACES} windows, which is the most for a user`;
  return refused("too_many", `${most}: end one, and try again in a minute`);
}

/** Returns the parts of a scope that cover no appliance. */
function unknownIn(
  { appliances, clusters, labels }: Scope,
  all: readonly ApplianceConfig[],
): string | undefined {
  const none: Scope = { appliances: [], clusters: [], labels: {} };
  const parts = [
    ...appliances.map((name) => [`appliance ${name}`, { ...none, appliances: [name] }] as const),
    ...clusters.map((name) => [`cluster ${name}`, { ...none, clusters: [name] }] as const),
    ...(Object.keys(labels).length === 0
      ? []
      : [["appliance with these labels", { ...none, labels }] as const]),
  ];
  if (parts.length === 0) return "the window names no appliance, cluster or label";
  const wrong = parts.find(([, scope]) => !all.some((each) => covers(scope, each)));
  return wrong && `there is no enabled ${wrong[0]}`;
}
