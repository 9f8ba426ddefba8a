import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";

/** A program under measurement, which the bench started. */
export interface MeasuredProcess {
  readonly child: ChildProcess;
  /** Returns user and system time since the start, from /proc; resolution 10 ms. */
  cpuMs(): number;
  residentMib(): number;
  openFiles(): number;
  stop(): Promise<void>;
}

const MS_OF_A_TICK = 10;
const UTIME = 13;
const STIME = 14;

export function startProcess(command: string, args: readonly string[]): MeasuredProcess {
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const proc = (path: string): string => `/proc/${child.pid}/${path}`;
  return {
    child,
    cpuMs: () => {
      const fields = readFileSync(proc("stat"), "utf8").split(" ");
      return (Number(fields[UTIME]) + Number(fields[STIME])) * MS_OF_A_TICK;
    },
    residentMib: () => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(proc("status"), "utf8"))?.[1]) / 1024,
    openFiles: () => readdirSync(proc("fd")).length,
    stop: async () => {
      child.kill("SIGTERM");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}

/** The file to load before a program whose pauses are measured. */
export const PAUSE_GAUGE = "pause-gauge.cjs";

/** What `PAUSE_GAUGE` says about the time since the reading before. */
export interface Gauge {
  /** The longest pause of the event loop. */
  readonly longestMs: number;
  /** The longest major garbage collection. */
  readonly collectionMs: number;
  /** The time for which the event loop waited for a processor in all. */
  readonly starvedMs: number;
}

export async function readGauge({ child }: MeasuredProcess): Promise<Gauge> {
  child.send("read");
  const [gauge]: Gauge[] = await once(child, "message");
  if (gauge === undefined) throw new Error("the gauge did not answer");
  return gauge;
}
