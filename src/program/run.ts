import { setTimeout as sleep } from "node:timers/promises";
import { startExporter, type Exporter } from "../exporter/exporter.ts";
import { listed } from "../support/text.ts";
import { openHistory } from "../history/timeline/history.ts";
import { storageOf, storageProblem } from "../history/command/storage.ts";
import {
  ignoredProxy,
  openLog,
  printErrors,
  type ExitCode,
  type Flags,
  type Io,
} from "../exporter/command/command.ts";

/** The longest time for a look at the folder of the journal, since a file system may hang. */
const MAX_LOOK_MS = 2000;

/** Runs the exporter until a signal to stop. */
export async function run(flags: Flags, io: Io): Promise<ExitCode> {
  const { logger, dropped, flush } = openLog(flags, io);
  const { "web.externalUrl": externalUrl } = flags;
  const running: { exporter?: Exporter } = {};
  // A SIGHUP during the start has no effect, since the start reads the configuration anyway.
  io.onReload(() => void running.exporter?.reload());
  const { shard } = flags;
  for (const detail of ignoredProxy(io)) logger.info({ detail }, "the environment has a proxy");
  const problem = await Promise.race([storageProblem(flags), sleep(MAX_LOOK_MS, undefined, { ref: false })]);
  // A folder that cannot be written may have a disk at fault: polls go on without a journal then.
  if (problem?.isUncreatable === true)
    return printErrors([{ file: "--storage.path", path: "", message: problem.message }], io);
  const started = await startExporter({
    ...io,
    configFile: flags["config.file"],
    listenAddresses: flags["web.listenAddress"],
    telemetryPath: flags["web.telemetryPath"],
    externalUrl: externalUrl?.url ?? "",
    routePrefix: flags["web.routePrefix"] ?? externalUrl?.routePrefix ?? "",
    enableLifecycle: flags["web.enableLifecycle"] ?? false,
    enableMaintenance: flags["web.enableMaintenance"] ?? false,
    adminSocket: flags["web.adminSocket"] || undefined,
    webConfigFile: flags["web.config.file"],
    shard,
    openHistory: () => openHistory({ ...io, shard, storage: storageOf(flags), logger }),
    logger,
    droppedLogLines: dropped,
  });
  if (!started.ok) return printErrors(started.errors, io);
  running.exporter = started.exporter;
  if (io.logIsTerminal) {
    const urls = externalUrl === undefined ? started.exporter.pageUrls : [`${externalUrl.url}/`];
    io.err(`\nStatus page: ${listed(urls)}   Ctrl-C stops the exporter.\n\n`);
  }
  await io.stopRequested;
  logger.info("stopping");
  await started.exporter.stop();
  await flush();
  return 0;
}
