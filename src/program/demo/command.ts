import { setTimeout as sleep } from "node:timers/promises";
import { startDemo, type Demo } from "./demo.ts";
import { fleetReport } from "../../operator/fleet-report.ts";
import {
  openLog,
  printErrors,
  stopOrHangUp,
  type ExitCode,
  type Flags,
  type Io,
} from "../../exporter/command/command.ts";

type DemoFlags = Pick<Flags, "web.listenAddress">;

const LOGGING = { "log.level": "info", "log.format": "text" } as const;

/** Runs three appliances, three websites and the exporter until SIGTERM, SIGINT or SIGHUP. */
export async function demo(flags: DemoFlags, io: Io, stepIntervalMs = 20_000): Promise<ExitCode> {
  const { "web.listenAddress": listenAddresses } = flags;
  let running: Demo | undefined;
  const { logger, dropped, flush } = openLog(LOGGING, io, async () => running?.stop());
  const started = await startDemo({ ...io, listenAddresses, logger, droppedLogLines: dropped });
  if (!started.ok) return printErrors(started.errors, io);
  const { pageUrls, step, document, stop } = (running = started.demo);
  try {
    io.out(welcome(pageUrls, stepIntervalMs));
    const stopped = new AbortController();
    void stopOrHangUp(io).then(() => stopped.abort());
    // The wait rejects only when it is aborted.
    const wait = (ms: number) => sleep(ms, undefined, { signal: stopped.signal }).catch(() => undefined);
    await wait(stepIntervalMs);
    while (!stopped.signal.aborted) {
      io.out(`\n==> ${step()}\n    ${pageUrls.join(" ")}\n`);
      // The exporter polls everything again meanwhile.
      await wait(stepIntervalMs / 2);
      if (stopped.signal.aborted) break;
      const report = fleetReport(await document(), { hasColor: io.hasColor, nowMs: io.clock.wallMs() });
      // The log and the reports of minutes would move the URL out of sight.
      io.out(`\n${report}\n    ${pageUrls.join(" ")}\n`);
      await wait(stepIntervalMs / 2);
    }
  } finally {
    await stop();
    await flush();
  }
  io.out("\nStopped; nothing is left behind.\n");
  return 0;
}

function welcome(pageUrls: readonly string[], stepIntervalMs: number): string {
  const urls = pageUrls.map((url) => `  ${url}\n  ${url}metrics\n`);
  return `Three appliances in one cluster, three websites and an exporter are running on this machine, for real. Open:

${urls.join("")}
Every ${stepIntervalMs / 1000} s something happens (==>); the exporter's log shows how it is detected. Press Ctrl-C to stop.
`;
}
