import { loadApplianceConfig } from "../config.ts";
import { createApplianceServer } from "../server.ts";
import { createKeepalivedSource } from "../keepalived.ts";
import { describeBug } from "../../support/errors.ts";
import { formatAddress } from "../../exporter/web/listen.ts";
import { describeListenFailure } from "../../exporter/web/listen-failure.ts";
import {
  openLog,
  printErrors,
  stopOrHangUp,
  type ExitCode,
  type Flags,
  type Io,
} from "../../exporter/command/command.ts";

/** Runs the reference appliance until SIGTERM, SIGINT or SIGHUP. */
export async function appliance(flags: Flags, io: Io): Promise<ExitCode> {
  const loaded = await loadApplianceConfig(flags["config.file"]);
  if (!loaded.ok) return printErrors(loaded.errors, io);
  const { config } = loaded;
  const { logger, flush } = openLog(flags, io);
  const { vrrp } = config;
  const server = createApplianceServer({
    ...config,
    vrrp:
      vrrp.source === "static"
        ? () => Promise.resolve({ ok: true, ...vrrp })
        : createKeepalivedSource(vrrp, io.sendSignal, logger),
    onBug: (error) => logger.error({ detail: describeBug(error) }, "request could not be answered"),
  });
  try {
    logger.info({ address: formatAddress(await server.start()) }, "appliance started");
  } catch (error) {
    const message = await describeListenFailure(error, config.listen, (address) => `"${address}"`);
    return printErrors([{ file: flags["config.file"], path: "listen", message }], io);
  }
  await stopOrHangUp(io);
  await server.stop();
  logger.info("appliance stopped");
  await flush();
  return 0;
}
