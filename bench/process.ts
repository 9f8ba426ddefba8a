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
