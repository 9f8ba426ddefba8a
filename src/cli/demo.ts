import { startDemo } from "../demo/demo.ts";
import { play } from "../demo/play.ts";
import { welcome } from "../demo/welcome.ts";
import { createLog } from "../support/log.ts";

import { fleetReport } from "./fleet-report.ts";
import type { ListenAddress } from "../web/listen.ts";
import type { ExitCode, Io } from "./io.ts";
import { describeListenError, FLUSH_TIMEOUT_MS, logLastWords } from "./running.ts";

export interface DemoOptions {
  readonly listenAddresses: readonly ListenAddress[];
  /** From one event of the script to the next. */
  readonly stepIntervalMs?: number;
}

const STEP_INTERVAL_MS = 20_000;
/** By then the exporter has polled everything again. */
const REPORT_AFTER_MS = 4000;

/** Shows the exporter at work on two appliances and three websites of its own, until it is asked to end. */
export async function demo(options: DemoOptions, io: Io): Promise<ExitCode> {
  const log = createLog("info", "logfmt", io.logFd);
  const { listenAddresses, stepIntervalMs = STEP_INTERVAL_MS } = options;
  const edges = { clock: io.clock, logger: log.logger, droppedLogLines: log.dropped };
  const started = await startDemo({ ...io, listenAddresses }, edges);
  if (!started.ok) {
    io.err(describeListenError(started.address, started.code));
    return 1;
  }
  const running = started.demo;
  const lastWords = logLastWords(log);
  io.onFatal(async (error) => {
    await lastWords(error);
    await running.stop();
  });
  // A closed terminal asks for a reload in a daemon's eyes; here it means that nobody watches any more.
  const hungUp = new Promise<void>((resolve) => io.onReload(resolve));
  try {
    io.out(welcome(running, { stepIntervalMs, calledAs: io.calledAs }));
    await play({
      step: running.step,
      intervalMs: stepIntervalMs,
      print: (sentence) => io.out(`\n==> ${sentence}\n`),
      report: {
        afterMs: REPORT_AFTER_MS,
        print: () => io.out(`\n${fleetReport(running.document(), io.hasColour)}`),
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
