import type { Config } from "./config/config.ts";
import { errorsOf, type Checked } from "./config/errors.ts";
import { loadInThread } from "./config/load-in-thread.ts";
import { loadConfig } from "./config/load.ts";
import { formatShard, WHOLE_FLEET, type Shard } from "./config/shard.ts";
import { sharedAddresses } from "./config/shared-addresses.ts";
import { UNEXPANDED, unexpandedPasswords } from "./config/unexpanded.ts";
import { createFleet } from "./fleet/fleet.ts";
import { limitFor, shareDescriptors } from "../support/open-files.ts";
import { createFleetExposition } from "./metrics/exposition.ts";
import { createSelfMetrics } from "./metrics/self.ts";
import { createClients, type ClientsOptions } from "./client/client.ts";
import type { Build } from "../support/build.ts";
import { startRunner } from "./polling/runner.ts";
import { createReloader, type Reloader } from "./config/reload.ts";
import { fleetJson } from "./document/document.ts";
import { createWindows } from "./maintenance/windows.ts";
import { createStatusBoard, type StatusBoard } from "./board/board.ts";
import { remainingProblems } from "./document/planned-document.ts";
import type { Clock } from "../support/clock.ts";
import type { Logger } from "../support/log.ts";
import { NO_HISTORY, type History } from "./history.ts";
import { websiteTargets } from "./web/website-targets.ts";
import { localAddress, type ListenAddress } from "./web/listen.ts";
import { createRoutes } from "./web/routes.ts";
import { createWebServer } from "./web/server.ts";
import { loadWebConfig } from "./web/web-config.ts";
import { createStatusPage, loadAssets } from "./page/page.ts";
import { loadRunbook } from "./page/runbook.ts";
import { describeBug, messageOf } from "../support/errors.ts";
import { listedBriefly } from "../support/text.ts";

/** The scheduler ticks every second; after this time without a tick, the exporter is unhealthy. */
const MAX_TICK_AGE_MS = 10_000;
/** Two checks load a changed file, so it is loaded within 30 s of its last change. */
const WATCH_INTERVAL_MS = 5000;

export interface ExporterOptions extends Omit<ClientsOptions, "maxConnections" | "lookup"> {
  readonly configFile: string;
  readonly listenAddresses: readonly ListenAddress[];
  readonly telemetryPath: string;
  /** The URL under which users reach the exporter, without a trailing slash; an empty text if it is not known, which is the default. */
  readonly externalUrl?: string;
  readonly routePrefix?: string;
  readonly enableLifecycle: boolean;
  /** Whether planned work may be changed over HTTP; default: no. */
  readonly enableMaintenance?: boolean;
  /** The path of a Unix socket for commands on this host; default: none. */
  readonly adminSocket?: string | undefined;
  /** TLS and authentication of the exporter's own server; default: plain HTTP without passwords. */
  readonly webConfigFile?: string | undefined;
  /** The clusters that this exporter polls and shows; default: all. */
  readonly shard?: Shard;
  readonly build: Build;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Opens the history, once the configuration is valid; default: none. */
  readonly openHistory?: () => Promise<History>;
  /** The limit of open files, which limits the connections; default: unlimited. */
  readonly descriptorLimit?: () => number;
  /** The time between two checks of the configuration's files; default: 5 s. */
  readonly watchIntervalMs?: number;
  readonly droppedLogLines: () => number;
}

export interface Exporter extends Pick<Reloader, "reload">, Pick<StatusBoard, "document"> {
  /** The address `host:port` of each listener. */
  readonly addresses: readonly string[];
  /** The URLs of the status page, as this machine reaches it. */
  readonly pageUrls: readonly string[];
  /** Every path that is served, without the prefix. */
  readonly paths: readonly string[];
  /** Stops polls and closes connections, within seconds. */
  stop(): Promise<void>;
}

/** Starts the exporter: reads the configuration, opens the listeners and starts polling. */
export async function startExporter(
  options: ExporterOptions,
): Promise<Checked<{ readonly exporter: Exporter }>> {
  const { version, clock, logger, configFile: file, webConfigFile, shard = WHOLE_FLEET } = options;
  const { watchIntervalMs = WATCH_INTERVAL_MS, descriptorLimit = () => Number.POSITIVE_INFINITY } = options;
  const { openHistory = async () => NO_HISTORY } = options;
  // This thread loads the configuration, since it polls nothing yet, and another thread would cost each start 60 ms.
  const [loaded, loadedWeb] = await Promise.all([loadConfig(file, shard), loadWebConfig(webConfigFile)]);
  if (!loaded.ok || !loadedWeb.ok) return { ok: false, errors: errorsOf(loaded, loadedWeb) };
  for (const warning of loadedWeb.warnings)
    logger.warn({ file: webConfigFile, detail: warning }, "a web setting has no effect");
  const [assets, history] = await Promise.all([loadAssets(), openHistory()]);
  const { restored, journal } = history;

  // What polls, and what is known of it.
  const fleet = createFleet();
  fleet.configure(loaded.config, clock.monotonicMs());
  const self = createSelfMetrics({ ...options, shard, journal }, options.droppedLogLines);
  const maxConnections = (): number => shareDescriptors(descriptorLimit()).appliances;
  const createClient = createClients({ ...options, maxConnections }, clock);
  const runner = startRunner({
    clock,
    operationsOf: ({ name }) => fleet.operations(name),
    onClockJump: (jumpMs) => logger.warn({ jumpSeconds: jumpMs / 1000 }, "wall clock jumped"),
  });
  const windows = createWindows({
    clock,
    restored: restored.windows,
    onChange: history.planned,
    isMuting: (window) => board.isMuting(window),
    onDrill: runner.hasten,
  });
  const board = createStatusBoard({
    version,
    shard,
    fleet,
    self,
    listener: history,
    restored,
    windows,
    storageFailure: journal?.failing,
    logger,
    clock,
    runner,
  });

  // How a configuration takes effect, now and at each reload.
  let targetPolicy = loaded.config.websiteTargets;
  function prepare(config: Config): () => Promise<void> {
    const start = runner.prepare(config, createClient, board);
    return async () => {
      fleet.configure(config, clock.monotonicMs());
      windows.configure(config);
      targetPolicy = config.websiteTargets;
      await start();
      self.appliances(enabledIn(config));
      warnAbout(config, descriptorLimit(), logger);
    };
  }
  const web = createWebServer({
    onPasswordError: (error) => logger.error({ detail: messageOf(error) }, "passwords cannot be checked"),
    routePrefix: options.routePrefix,
    config: loadedWeb.config,
    configFile: webConfigFile,
    adminSocket: options.adminSocket,
    maxConnections: shareDescriptors(descriptorLimit()).web,
  });
  const reloader = createReloader({
    watchIntervalMs,
    load: (running) => loadInThread({ file, shard }, running),
    loaded,
    web: { sources: loadedWeb.sources, prepare: web.prepare },
    prepare,
    onReloaded: (isSuccess, atMs) => {
      board.reloaded(isSuccess, atMs);
      self.reloaded(isSuccess, atMs);
    },
    clock,
    logger,
  });

  // What clients get.
  const exposition = createFleetExposition({
    onBug: (error) => logger.error({ detail: describeBug(error) }, "series could not be rendered"),
  });
  let wasPolled = false;
  const routes = createRoutes({
    telemetryPath: options.telemetryPath,
    renderMetrics: async () => {
      self.nextPoll(runner.soonestMs() - clock.monotonicMs() + clock.wallMs());
      const { verdicts, incidents, own } = await board.current();
      self.problems(own);
      return { text: await exposition.render(await self.render(), verdicts, incidents) };
    },
    renderFleet: async () => ({ text: await fleetJson(await board.document()) }),
    renderWebsites: async () => {
      const targets = await websiteTargets(await board.verdicts(), targetPolicy);
      if (targets !== undefined) self.targetsLeftOut(targets.left);
      return targets;
    },
    renderPage: createStatusPage({
      ...options,
      wallMs: clock.wallMs,
      document: board.document,
      timelines: history.strips,
      assets: assets.folder,
    }),
    history: history.read && { read: history.read, wallMs: clock.wallMs },
    maintenance: {
      isEnabled: options.enableMaintenance ?? false,
      windows,
      remaining: async ({ scope }) => remainingProblems(await board.verdicts(), scope),
      logger,
    },
    assets: assets.files,
    runbook: await loadRunbook(assets.folder),
    isHealthy: () => clock.monotonicMs() - runner.lastTickMs() < MAX_TICK_AGE_MS,
    // The exporter stays ready once it was, so that a reload with a new appliance does not take it out of service.
    isReady: () => (wasPolled ||= fleet.isPolled()),
    configText: () => reloader.running().shown,
    mayReload: options.enableLifecycle,
    reload: reloader.reload,
    onError: (path, bug) => logger.error({ path, detail: describeBug(bug) }, "page could not be rendered"),
  });

  self.reloaded(true, clock.wallMs());
  const started = await web.start(options.listenAddresses, routes.handle);
  if (!started.ok) {
    reloader.stop();
    runner.stop();
    return started;
  }
  // A client may have caused a reload since the first listener was there.
  await prepare(reloader.running().config)();
  reloader.watch();
  history.start({ verdicts: board.verdicts, windows, onIncidents: board.restore });
  const { addresses } = started;
  const appliances = reloader.running().config.appliances.length;
  const fields = { addresses: addresses.join(", "), appliances, shard: formatShard(shard), version };
  logger.info(fields, "exporter started");
  const stop = async (): Promise<void> => {
    reloader.stop();
    runner.stop();
    await Promise.all([web.stop(), history.stop()]);
    logger.info("exporter stopped");
  };
  const { document } = board;
  const { reload } = reloader;
  const scheme = loadedWeb.config.tls === undefined ? "http" : "https";
  const pageUrls = addresses.map(
    (address) => `${scheme}://${localAddress(address)}${options.routePrefix ?? ""}/`,
  );
  return { ok: true, exporter: { addresses, pageUrls, paths: routes.paths, document, reload, stop } };
}

function enabledIn({ appliances }: Config): number {
  return appliances.filter(({ enabled }) => enabled).length;
}

/** Logs what a configuration has that works less well than it could. */
function warnAbout(config: Config, limit: number, logger: Logger): void {
  const [appliances, { appliances: connections }] = [enabledIn(config), shareDescriptors(limit)];
  if (appliances > connections) {
    logger.warn(
      { limit, connections, appliances, neededLimit: limitFor(appliances) },
      "too few open files allowed to keep a connection to each appliance: raise the limit",
    );
  }
  const unexpanded = unexpandedPasswords(config.appliances);
  if (unexpanded.length > 0) logger.warn({ detail: listedBriefly(unexpanded) }, UNEXPANDED);
  const shared = sharedAddresses(config.appliances);
  const fields = { addresses: shared.length, detail: listedBriefly(shared) };
  if (shared.length > 0) logger.warn(fields, "several appliances have the same address");
}
