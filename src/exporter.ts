import type { Config, ConfigError } from "./config/config.ts";
import { formatConfigError } from "./config/errors.ts";
import { loadConfig } from "./config/load.ts";
import { createPasswordReader } from "./config/password-file.ts";
import { planReload } from "./config/reload-plan.ts";
import { coalesce } from "./coalesce.ts";
import { createFleet } from "./fleet/fleet.ts";
import type { Logger } from "./log.ts";
import { createFleetExposition } from "./metrics/exposition.ts";
import { createSelfMetrics } from "./metrics/self.ts";
import { createObserver } from "./observer.ts";
import { createClientFactory, type ClientFactory } from "./polling/client/factory.ts";
import { createLookup } from "./polling/client/lookup.ts";
import { createSecureContexts } from "./polling/client/tls-context.ts";
import type { Clock } from "./polling/clock.ts";
import { startRunner, type PollingMode } from "./polling/runner.ts";
import { createProber, onlyPolled } from "./prober.ts";
import type { ListenAddress } from "./web/listen-address.ts";
import { createRoutes } from "./web/routes.ts";
import { startWebServer } from "./web/server.ts";

/** The scheduler ticks every second; this long without a tick, and it is not alive. */
const MAX_TICK_AGE_MS = 10_000;

export interface ExporterOptions {
  readonly configFile: string;
  readonly listenAddresses: readonly ListenAddress[];
  readonly telemetryPath: string;
  /** Default: `scheduled`. */
  readonly pollingMode?: PollingMode;
  readonly version: string;
  readonly nodeVersion: string;
  /** Name look-ups in flight at once; each holds one of the threads that files and compression need too. */
  readonly maxLookups: number;
  /** Password files read at once; likewise. */
  readonly maxPasswordReads: number;
}

export interface ExporterEdges {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly droppedLogLines: () => number;
}

/** The program as a whole, running. */
export interface Exporter {
  /** `host:port` of each listener. */
  readonly addresses: readonly string[];
  /** Reads the configuration again and goes by it; a bad one changes nothing. Resolves to whether it was good. */
  reload(): Promise<boolean>;
  /** Ends polls and connections, within seconds. */
  stop(): Promise<void>;
}

export type ExporterStart =
  | { readonly ok: true; readonly exporter: Exporter }
  | { readonly ok: false; readonly reason: "config"; readonly errors: readonly ConfigError[] }
  /** `code`: of the runtime, EADDRINUSE say. */
  | { readonly ok: false; readonly reason: "listen"; readonly address: string; readonly code: string };

/** Wires everything and starts it: the configuration is read, listeners are opened, polling begins. */
export async function startExporter(options: ExporterOptions, edges: ExporterEdges): Promise<ExporterStart> {
  const { clock, logger } = edges;
  const loaded = await loadConfig(options.configFile);
  if (!loaded.ok) return { ok: false, reason: "config", errors: loaded.errors };

  const fleet = createFleet();
  const exposition = createFleetExposition();
  const self = createSelfMetrics(options, edges.droppedLogLines);
  const createClients = clientFactories(options, clock);
  const { pollingMode: mode = "scheduled" } = options;
  const runner = startRunner({
    mode,
    clock,
    events: createObserver({ fleet, exposition, self, logger, clock }),
    onClockJump: (jumpMs) => logger.warn({ jumpSeconds: jumpMs / 1000 }, "wall clock jumped"),
  });
  const snapshot = () => fleet.snapshot(clock.monotonicMs());
  // What nobody has probed yet is no news.
  const shown = () => (mode === "probe" ? onlyPolled(snapshot()) : snapshot());
  const awaitedFromMs = () => (mode === "probe" ? Number.POSITIVE_INFINITY : clock.monotonicMs());
  let current = loaded.config;
  const isPolled = () =>
    snapshot().appliances.every(({ totals: { totals } }) =>
      totals.some(({ operation, polls }) => operation === "vrrp" && polls > 0),
    );
  let wasPolled = false;
  let isStopped = false;

  fleet.configure(loaded.config, awaitedFromMs());
  const web = await startWebServer(
    options.listenAddresses,
    createRoutes({
      telemetryPath: options.telemetryPath,
      version: options.version,
      renderMetrics: async () => (await self.render()) + exposition.render(shown()),
      probe: createProber({ mode, clock, fleet, appliances: () => current.appliances, ...runner }),
      snapshot,
      isHealthy: () => clock.monotonicMs() - runner.lastTickMs() < MAX_TICK_AGE_MS,
      // Once ready, for good: a new appliance in a reload makes nobody take the exporter out of service.
      isReady: () => (wasPolled ||= mode === "probe" || isPolled()),
      onError: (path, error) => logger.error({ path, detail: String(error) }, "page could not be made"),
    }),
  );
  if (!web.ok) {
    runner.stop();
    return { ...web, reason: "listen" };
  }

  function apply(config: Config): void {
    fleet.configure(config, awaitedFromMs());
    runner.apply(config, createClients());
    self.appliances(config.appliances.filter(({ enabled }) => enabled).length);
    self.reloaded(true, clock.wallMs());
    current = config;
  }
  async function reload(): Promise<boolean> {
    const next = await loadConfig(options.configFile);
    if (isStopped) return false;
    if (!next.ok) {
      self.reloaded(false, clock.wallMs());
      for (const error of next.errors)
        logger.error({ detail: formatConfigError(error) }, "configuration is bad");
      logger.error({ errors: next.errors.length }, "reload failed, the old configuration stays");
      return false;
    }
    const { added, removed, changed, kept } = planReload(current, next.config);
    apply(next.config);
    const changes = changed.map(({ name, aspects }) => `${name} (${[...aspects].join(", ")})`);
    logger.info({ added, removed, changed: changes, kept: kept.length }, "configuration reloaded");
    return true;
  }

  apply(loaded.config);
  const { addresses } = web.server;
  logger.info(
    { addresses: addresses.join(", "), appliances: current.appliances.length, version: options.version },
    "exporter started",
  );
  return {
    ok: true,
    exporter: {
      addresses,
      reload: coalesce(reload),
      stop: async () => {
        isStopped = true;
        runner.stop();
        await web.server.stop();
        logger.info("exporter stopped");
      },
    },
  };
}

/** Clients of one load of the configuration share their secure contexts; those of all loads the look-ups and password files. */
function clientFactories(
  { version, maxLookups, maxPasswordReads }: ExporterOptions,
  clock: Clock,
): () => ClientFactory {
  const lookup = createLookup(maxLookups);
  const readPassword = createPasswordReader({ maxReads: maxPasswordReads });
  const userAgent = `appliance-exporter/${version}`;
  return () =>
    createClientFactory({ clock, lookup, readPassword, secureContexts: createSecureContexts(), userAgent });
}
