import { startExporter, type Exporter } from "../exporter.ts";
import {
  configFile,
  enableLifecycle,
  externalUrl,
  listenAddress,
  listenAddresses,
  logging,
  routePrefix,
  shard,
  telemetryPath,
  webConfigFile,
  type CommandSpec,
} from "./flags.ts";
import { printErrors } from "./report.ts";
import { describeListenError, openLog } from "./running.ts";

const LISTEN_ADDRESS = ":10849";

/** Runs the exporter until SIGTERM or SIGINT. */
export const RUN: CommandSpec = {
  name: "run",
  isDefault: true,
  description: "poll the appliances and serve their metrics (the default)",
  flags: [
    configFile("config.yaml"),
    listenAddress(LISTEN_ADDRESS),
    telemetryPath,
    externalUrl,
    routePrefix,
    webConfigFile,
    enableLifecycle,
    shard,
    ...logging,
  ],
  example: "appliance-exporter run --config.file=/etc/appliance-exporter/config.yaml --log.format=logfmt",
  action: async (flags, io) => {
    const { logger, dropped, flush } = openLog(flags["log.level"], flags["log.format"], io);
    const running: { exporter?: Exporter } = {};
    // Ignores SIGHUP during the start, which reads the configuration anyway.
    io.onReload(() => void running.exporter?.reload());
    const options = {
      ...io,
      configFile: flags["config.file"],
      listenAddresses: listenAddresses(flags, LISTEN_ADDRESS),
      telemetryPath: flags["web.telemetryPath"],
      routePrefix: flags["web.routePrefix"] ?? flags["web.externalUrl"] ?? "",
      enableLifecycle: flags["web.enableLifecycle"] === true,
      webConfigFile: flags["web.config.file"],
      shard: flags.shard,
    };
    const started = await startExporter(options, { clock: io.clock, logger, droppedLogLines: dropped });
    if (!started.ok) {
      if (started.reason === "config") return printErrors(started.errors, io);
      io.err(describeListenError(started.address, started.code));
      return 1;
    }
    const { exporter } = started;
    running.exporter = exporter;
    await io.stopRequested;
    logger.info("stopping");
    await exporter.stop();
    await flush();
    return 0;
  },
};
