import { coalesce } from "../support/coalesce.ts";
import type { Config } from "./config.ts";
import type { ConfigResult, ValidConfig } from "./load.ts";
import { errorsOf, formatErrors } from "./errors.ts";
import type { Loaded } from "./loading.ts";
import { goneSince, type Source } from "./sources.ts";
import { startWatch } from "./watch.ts";
import type { Logger } from "../support/log.ts";
import type { Clock } from "../support/clock.ts";
import { describeBug } from "../support/errors.ts";

/** `errors`: one line each, without secrets. */
export type ReloadResult = { readonly ok: true } | { readonly ok: false; readonly errors: readonly string[] };

/** A loaded web configuration, valid or not. */
export type Preparation = Loaded<{
  /** Takes effect from the next request and handshake on; if it throws, the old configuration stays. */
  apply(): void;
}>;

export interface ReloaderDeps {
  /** Loads the configuration again. */
  readonly load: (running: ValidConfig) => Promise<ConfigResult>;
  /** The running configuration. */
  readonly loaded: ValidConfig;
  /** The exporter's own server; both configurations are applied, or neither. */
  readonly web: { readonly sources: readonly Source[]; prepare(): Promise<Preparation> };
  /** Prepares another configuration; the returned function applies it. */
  readonly prepare: (config: Config) => () => Promise<void>;
  /** `atMs`: Unix time in milliseconds. */
  readonly onReloaded: (isSuccess: boolean, atMs: number) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Time between two checks of the files. */
  readonly watchIntervalMs: number;
}

/** Holds and replaces the running configuration. */
export interface Reloader {
  /** Reads the configuration again and applies it; an invalid one changes nothing. */
  reload(): Promise<ReloadResult>;
  /** The running configuration, without its secrets. */
  shown(): string;
  /** Starts to reload automatically when the content of a file has changed. */
  watch(): void;
  /** Applies no configuration from now on. */
  stop(): void;
}

const STOPPED: ReloadResult = { ok: false, errors: ["the exporter is stopping"] };

export function createReloader({
  load,
  prepare,
  onReloaded,
  clock,
  logger,
  ...deps
}: ReloaderDeps): Reloader {
  let running = deps.loaded;
  let sources = [...running.sources, ...deps.web.sources];
  let isStopped = false;
  let stopWatching: (() => void) | undefined;

  async function loadAndApply(): Promise<ReloadResult> {
    const next = await load(running);
    const nextWeb = await deps.web.prepare();
    if (isStopped) return STOPPED;
    sources = [...next.sources, ...nextWeb.sources];
    if (!next.ok || !nextWeb.ok) {
      return fail(formatErrors(errorsOf(next, nextWeb)), "configuration is invalid");
    }
    // Only a known_certificates_file may be missing. Without its lines, no appliance would be trusted.
    const gone = goneSince(running.sources, next.sources);
    if (gone.length > 0) {
      const errors = gone.map((path) => `${path}: the file is gone; to trust no certificate, leave it empty`);
      return fail(errors, "configuration is invalid");
    }
    const plan = planReload(running.config, next.config);
    const apply = prepare(next.config);
    // TLS settings may still be rejected, so they come first.
    nextWeb.apply();
    running = next;
    await apply();
    onReloaded(true, clock.wallMs());
    logger.info(plan, "configuration reloaded");
    return { ok: true };
  }

  function fail(errors: readonly string[], message: string): ReloadResult {
    onReloaded(false, clock.wallMs());
    for (const detail of errors) logger.error({ detail }, message);
    logger.error("reload failed, the old configuration stays");
    return { ok: false, errors };
  }

  const reload = coalesce(() =>
    loadAndApply().catch((error: unknown) =>
      fail([describeBug(error)], "configuration could not be applied"),
    ),
  );
  function onChange(): Promise<ReloadResult> {
    logger.info("configuration files changed");
    return reload();
  }

  return {
    reload,
    shown: () => running.shown,
    watch: () => {
      if (isStopped) return;
      stopWatching = startWatch({ sources: () => sources, onChange }, deps.watchIntervalMs);
    },
    stop: () => {
      isStopped = true;
      stopWatching?.();
    },
  };
}

/** The names of appliances that are new, gone or other objects than before. */
export function planReload(
  old: Config,
  next: Config,
): Record<"added" | "removed" | "changed", readonly string[]> {
  const before = new Map(old.appliances.map((appliance) => [appliance.name, appliance]));
  const after = new Map(next.appliances.map((appliance) => [appliance.name, appliance]));
  const names = [...after.keys()];
  return {
    added: names.filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !after.has(name)),
    changed: names.filter((name) => before.has(name) && before.get(name) !== after.get(name)),
  };
}
