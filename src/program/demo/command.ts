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

const LOGGING = { "log.level": "info", "log.format": "logfmt" } as const;

/** Runs three appliances, three websites and the exporter until SIGTERM, SIGINT or SIGHUP. */
export async function demo(flags: DemoFlags, io: Io, stepIntervalMs = 20_000): Promise<ExitCode> {
  const { "web.listenAddress": listenAddresses } = flags;
  let running: Demo | undefined;
  const { logger, dropped, flush } = openLog(LOGGING, io, async () => running?.stop());
  const started = await startDemo({ ...io, listenAddresses, logger, droppedLogLines: dropped });
  if (!started.ok) return printErrors(started.errors, io);
  const { addresses, step, document, stop } = (running = started.demo);
  try {
    io.out(welcome(addresses, stepIntervalMs));
    const stopped = new AbortController();
    void stopOrHangUp(io).then(() => stopped.abort());
    // The wait rejects only when it is aborted.
    const wait = (ms: number) => sleep(ms, undefined, { signal: stopped.signal }).catch(() => undefined);
    await wait(stepIntervalMs);
    while (!stopped.signal.aborted) {
      io.out(`\n==> ${step()}\n`);
      // The exporter polls everything again meanwhile.
      await wait(stepIntervalMs / 2);
      if (stopped.signal.aborted) break;
      io.out(
        `\n${fleetReport(await document(), { hasColor: io.hasColor, nowMs: io.clock.wallMs(), shows: "all" })}`,
      );
      await wait(stepIntervalMs / 2);
    }
  } finally {
    await stop();
    await flush();
  }
  io.out("\nStopped; nothing is left behind.\n");
  return 0;
}

function welcome(addresses: readonly string[], stepIntervalMs: number): string {
  const urls = addresses.map((address) => {
    // If the exporter listens on all addresses, this machine reaches it at localhost.
    const url = `http://${address.replace(/^(0\.0\.0\.0|\[::\]):/, "localhost:")}/`;
    return `  ${url}\n  ${url}metrics\n`;
  });
  return `Three appliances in one cluster, three websites and an exporter are running on this machine, for real. Open:

${urls.join("")}
Every ${stepIntervalMs / 1000} s something happens (==>); the exporter's log shows how it is detected. Press Ctrl-C to stop.
`;
}
