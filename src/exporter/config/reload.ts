import { coalesce } from "../../support/coalesce.ts";
import type { Clock } from "../../support/clock.ts";
import { describeBug } from "../../support/errors.ts";
import type { Logger } from "../../support/log.ts";
import type { Config } from "./config.ts";
import { errorsOf, formatErrors } from "./errors.ts";
import type { ConfigResult, ValidConfig } from "./load.ts";
import { goneSince, readStates, type Loaded, type Source } from "./sources.ts";

/** The result; `errors` has one line for each error, without secrets. */
export type ReloadResult = { readonly ok: true } | { readonly ok: false; readonly errors: readonly string[] };

export interface ReloaderDeps {
  readonly load: (running: ValidConfig) => Promise<ConfigResult>;
  readonly loaded: ValidConfig;
  /** The exporter's own server; both configurations are applied, or neither. If `apply` throws, the old ones stay. */
  readonly web: { readonly sources: readonly Source[]; prepare(): Promise<Loaded<{ apply(): void }>> };
  /** Prepares another configuration; the returned function applies it. */
  readonly prepare: (config: Config) => () => Promise<void>;
  /** Informs about a reload; `atMs` is Unix time in milliseconds. */
  readonly onReloaded: (isSuccess: boolean, atMs: number) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly watchIntervalMs: number;
}

export interface Reloader {
  /** Reads the configuration again and applies it; an invalid configuration changes nothing. */
  reload(): Promise<ReloadResult>;
  /** Returns the configuration that runs, or is to run. */
  running(): ValidConfig;
  /** Starts to reload automatically when the content of a file has changed. */
  watch(): void;
  /** Applies no configuration from now on. */
  stop(): void;
}

/** The longest time that reading may take, since a file system may hang. */
const MAX_READ_MS = 60_000;
const UNREAD = "the files could not be read within a minute";

export function createReloader(deps: ReloaderDeps): Reloader {
  const { web, onReloaded, clock, logger } = deps;
  let running = deps.loaded;
  let sources = [...running.sources, ...web.sources];
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  /** This stays true after the reload has failed: while a file system hangs, further reloads fail at once and take no thread. */
  let isReading = false;

  async function readAll() {
    isReading = true;
    try {
      return await Promise.all([deps.load(running), web.prepare()]);
    } finally {
      isReading = false;
    }
  }

  async function loadAndApply(): Promise<ReloadResult> {
    const overdue = new Promise<undefined>((resolve) =>
      setTimeout(() => resolve(undefined), MAX_READ_MS).unref(),
    );
    const read = isReading ? undefined : await Promise.race([readAll(), overdue]);
    if (read === undefined) return fail([UNREAD], "configuration cannot be read");
    const [next, nextWeb] = read;
    if (isStopped) return { ok: false, errors: ["the exporter is stopping"] };
    sources = [...next.sources, ...nextWeb.sources];
    if (!next.ok || !nextWeb.ok)
      return fail(formatErrors(errorsOf(next, nextWeb)), "configuration is invalid");
    // Only a known_certificates_file may be missing. Without its lines, no appliance would be trusted.
    const gone = goneSince(running.sources, next.sources);
    const errors = gone.map((path) => `${path}: the file is gone; to trust no certificate, leave it empty`);
    if (errors.length > 0) return fail(errors, "configuration is invalid");
    const plan = planReload(running.config, next.config);
    const apply = deps.prepare(next.config);
    // TLS settings may still be rejected, so they come first.
    nextWeb.apply();
    running = next;
    await apply();
    onReloaded(true, clock.wallMs());
    logger.info(plan, "configuration reloaded");
    return { ok: true };
  }

  function fail(errors: readonly string[], message: string, outcome = "the old configuration stays") {
    onReloaded(false, clock.wallMs());
    for (const detail of errors) logger.error({ detail }, message);
    logger.error(`reload failed, ${outcome}`);
    return { ok: false, errors } as const;
  }

  const reload = coalesce(async () => {
    const before = running;
    return loadAndApply().catch((error: unknown) => {
      const outcome = running === before ? undefined : "the new configuration runs in part";
      return fail([describeBug(error)], "configuration could not be applied", outcome);
    });
  });
  function onChange(): Promise<ReloadResult> {
    logger.info("configuration files changed");
    return reload();
  }
  const check = createCheck(() => sources, onChange);

  return {
    reload,
    running: () => running,
    watch: () => {
      if (isStopped) return;
      timer = setInterval(() => void check(), deps.watchIntervalMs);
    },
    stop: () => {
      isStopped = true;
      clearInterval(timer);
    },
  };
}

/**
 * Compares the sources with their state at the latest load, valid or not; after each load they are another list. A change counts when two
 * checks in a row find the same state, since at the first check a file may still be written. A load that failed with a system error is
 * repeated when the files are readable. While a check of a list is not finished, further checks of that list do nothing, so that hanging
 * files take one thread. `onChange` must not reject.
 */
export function createCheck(
  sources: () => readonly Source[],
  onChange: () => Promise<unknown>,
): () => Promise<void> {
  let latest = "";
  let checked: readonly Source[] | undefined;
  return async () => {
    const loaded = sources();
    if (loaded === checked) return;
    checked = loaded;
    const states = await readStates(loaded);
    // After a reload in the meantime, the findings are about old sources.
    const hasChanged = loaded === sources() && states.some((state, at) => state !== loaded[at]?.state);
    const found = hasChanged ? JSON.stringify(states) : "";
    const isSettled = hasChanged && found === latest;
    latest = found;
    if (isSettled) await onChange();
    if (checked === loaded) checked = undefined;
  };
}

/** Returns the names of appliances that are new, gone or other objects than before. */
export function planReload(old: Config, next: Config) {
  const before = new Map(old.appliances.map((appliance) => [appliance.name, appliance]));
  const after = new Map(next.appliances.map((appliance) => [appliance.name, appliance]));
  const names = [...after.keys()];
  return {
    added: names.filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !after.has(name)),
    changed: names.filter((name) => before.has(name) && before.get(name) !== after.get(name)),
  };
}
