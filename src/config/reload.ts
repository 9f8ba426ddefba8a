import { coalesce } from "../support/coalesce.ts";
import type { Config, ConfigError, ConfigResult } from "./config.ts";
import { countErrors, errorsOf, formatConfigError, MAX_ERRORS } from "./errors.ts";
import { planReload } from "./reload-plan.ts";
import type { Source } from "./sources.ts";
import { startWatch } from "./watch.ts";
import type { Logger } from "../support/log.ts";
import type { Clock } from "../support/clock.ts";
import { describeBug } from "../support/errors.ts";

/** `errors`: one line each, without any secret. */
export type ReloadResult = { readonly ok: true } | { readonly ok: false; readonly errors: readonly string[] };

/** Another configuration of our own server; `sources`: what it was read from, whether it is valid or not. */
export type Preparation =
  /** `apply` takes effect from the next request and the next handshake on; if it throws, the old one stays. */
  | { readonly ok: true; readonly sources: readonly Source[]; apply(): void }
  | { readonly ok: false; readonly sources: readonly Source[]; readonly errors: readonly ConfigError[] };

export interface ReloaderDeps {
  /** Reads the configuration. */
  readonly load: () => Promise<ConfigResult>;
  /** What runs already. */
  readonly loaded: ConfigResult & { readonly ok: true };
  /** Our own server, whose configuration is reloaded with it: both or neither. */
  readonly web: { readonly sources: readonly Source[]; prepare(): Promise<Preparation> };
  /** Makes all that another configuration needs, and changes nothing before the function that it returns is called. */
  readonly prepare: (config: Config) => () => void;
  /** `atMs`: Unix time in milliseconds. */
  readonly onReloaded: (isSuccess: boolean, atMs: number) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  /** From one check of the files to the next. */
  readonly watchIntervalMs: number;
}

/** Keeps the running configuration and replaces it. */
export interface Reloader {
  /** Reads the configuration again and applies it; an invalid one changes nothing. */
  reload(): Promise<ReloadResult>;
  /** The running configuration, in YAML and without its secrets. */
  shown(): string;
  /** From now on, also reloads by itself when the content of a file has changed since the latest load. */
  watch(): void;
  /** No configuration is applied from here on. */
  stop(): void;
}

const STOPPED: ReloadResult = { ok: false, errors: ["the exporter is stopping"] };

export function createReloader({ prepare, onReloaded, clock, logger, ...deps }: ReloaderDeps): Reloader {
  let running = deps.loaded;
  let sources = [...running.sources, ...deps.web.sources];
  let isStopped = false;
  let stopWatching: (() => void) | undefined;

  async function loadAndApply(): Promise<ReloadResult> {
    const next = await deps.load();
    const nextWeb = await deps.web.prepare();
    if (isStopped) return STOPPED;
    sources = [...next.sources, ...nextWeb.sources];
    if (!next.ok || !nextWeb.ok) {
      const errors = errorsOf(next, nextWeb);
      return refuse(errors.map(formatConfigError), "configuration is bad", countErrors(errors));
    }
    const { added, removed, changed, kept } = planReload(running.config, next.config);
    try {
      const apply = prepare(next.config);
      // What the runtime could still refuse comes first, before the fleet changes.
      nextWeb.apply();
      apply();
    } catch (error) {
      return refuse([describeBug(error)], "configuration could not be applied");
    }
    running = next;
    onReloaded(true, clock.wallMs());
    logger.info({ added, removed, changed, kept: kept.length }, "configuration reloaded");
    return { ok: true };
  }

  /** `count`: of all errors, including those that are not shown. */
  function refuse(errors: readonly string[], message: string, count = errors.length): ReloadResult {
    onReloaded(false, clock.wallMs());
    for (const detail of errors.slice(0, MAX_ERRORS)) logger.error({ detail }, message);
    logger.error({ errors: count }, "reload failed, the old configuration stays");
    return { ok: false, errors };
  }

  const reload = coalesce(loadAndApply);
  function onChange(files: readonly string[]): Promise<ReloadResult> {
    logger.info({ files }, "configuration files changed");
    return reload();
  }

  return {
    reload,
    shown: () => running.shown(),
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
