import { startDemo } from "../demo/demo.ts";
import { play } from "../demo/play.ts";
import { welcome } from "../demo/welcome.ts";
import { createLog } from "../support/log.ts";
import { fleetReport } from "./fleet-report.ts";
import type { ListenAddress } from "../web/listen.ts";
import type { ExitCode, Io } from "./io.ts";
import { describeListenError, FLUSH_TIMEOUT_MS, logFatalError } from "./running.ts";

export interface DemoOptions {
  readonly listenAddresses: readonly ListenAddress[];
  /** Time between two steps of the script. */
  readonly stepIntervalMs?: number;
}

const STEP_INTERVAL_MS = 20_000;
/** Within this time the exporter polls everything again. */
const REPORT_AFTER_MS = 4000;

/** Runs two appliances, three websites and the exporter until SIGTERM, SIGINT or SIGHUP. */
export async function demo(options: DemoOptions, io: Io): Promise<ExitCode> {
  const log = createLog("info", "logfmt", io.logFd);
  const { listenAddresses, stepIntervalMs = STEP_INTERVAL_MS } = options;
  const deps = { clock: io.clock, logger: log.logger, droppedLogLines: log.dropped };
  const started = await startDemo({ ...io, listenAddresses }, deps);
  if (!started.ok) {
    io.err(describeListenError(started.address, started.code));
    return 1;
  }
  const running = started.demo;
  const logFatal = logFatalError(log);
  io.onFatal(async (error) => {
    await logFatal(error);
    await running.stop();
  });
  // There is nothing to reload, so SIGHUP means that the terminal was closed.
  const hungUp = new Promise<void>((resolve) => io.onReload(resolve));
  try {
    io.out(welcome(running, { stepIntervalMs, calledAs: io.calledAs }));
    await play({
      step: running.step,
      intervalMs: stepIntervalMs,
      print: (sentence) => io.out(`\n==> ${sentence}\n`),
      report: {
        afterMs: REPORT_AFTER_MS,
        print: () => io.out(`\n${fleetReport(running.document(), io.hasColor)}`),
      },
      stopRequested: Promise.race([io.stopRequested, hungUp]),
    });
  } finally {
    await running.stop();
    await log.flush(FLUSH_TIMEOUT_MS);
  }
  io.out("\nStopped; nothing is left behind.\n");
  return 0;
}
