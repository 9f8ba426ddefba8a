import { setTimeout as sleep } from "node:timers/promises";
import { startDemo, type Demo } from "../demo/demo.ts";
import type { ListenAddress } from "../web/listen.ts";
import { fleetReport } from "./fleet-report.ts";
import type { ExitCode, Io } from "./io.ts";
import { printErrors } from "./report.ts";
import { openLog, stopOrHangUp } from "./running.ts";

export interface DemoOptions {
  readonly listenAddresses: readonly ListenAddress[];
  /** Time between two steps of the script. */
  readonly stepIntervalMs?: number;
}

const STEP_INTERVAL_MS = 20_000;

/** Runs two appliances, three websites and the exporter until SIGTERM, SIGINT or SIGHUP. */
export async function demo(options: DemoOptions, io: Io): Promise<ExitCode> {
  let running: Demo | undefined;
  const { logger, dropped, flush } = openLog("info", "logfmt", io, async () => running?.stop());
  const { listenAddresses, stepIntervalMs = STEP_INTERVAL_MS } = options;
  const started = await startDemo({ ...io, listenAddresses, logger, droppedLogLines: dropped });
  if (!started.ok) return printErrors(started.errors, io);
  const { addresses, step, document, stop } = (running = started.demo);
  try {
    io.out(welcome(addresses, stepIntervalMs));
    const stopped = new AbortController();
    void stopOrHangUp(io).then(() => stopped.abort());
    // Rejects only when aborted.
    const wait = (ms: number) => sleep(ms, undefined, { signal: stopped.signal }).catch(() => undefined);
    await wait(stepIntervalMs);
    while (!stopped.signal.aborted) {
      io.out(`\n==> ${step()}\n`);
      // Meanwhile the exporter polls everything again.
      await wait(stepIntervalMs / 2);
      if (stopped.signal.aborted) break;
      io.out(`\n${fleetReport(await document(), io.hasColor, io.clock.wallMs())}`);
      await wait(stepIntervalMs / 2);
    }
  } finally {
    await stop();
    await flush();
  }
  io.out("\nStopped; nothing is left behind.\n");
  return 0;
}

/** The introduction: what runs, and where to look. */
function welcome(addresses: readonly string[], stepIntervalMs: number): string {
  const urls = addresses.map((address) => {
    // From this machine, if it listens on all addresses.
    const url = `http://${address.replace(/^(0\.0\.0\.0|\[::\]):/, "localhost:")}/`;
    return `  ${url}\n  ${url}metrics\n`;
  });
  return `Two appliances in one cluster, three websites and an exporter are running on this machine, for real. Open:

${urls.join("")}
Every ${stepIntervalMs / 1000} s something happens (==>); the exporter's log shows how it is detected. Press Ctrl-C to stop.
`;
}
