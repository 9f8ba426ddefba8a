import { EventEmitter, once } from "node:events";
import { open } from "node:fs/promises";
import { onTestFinished } from "vitest";
import type { Io } from "../../src/exporter/command/command.ts";
import { systemClock } from "../../src/support/clock.ts";
import { BUILD } from "./build-facts.ts";

/** A process's edge as a test sees it. `out` and `err` hold what was printed. */
export async function createTestIo(fields: Partial<Io> = {}) {
  const log = await open("/dev/null", "w");
  onTestFinished(() => log.close());
  const printed = { out: "", err: "" };
  const stop = new AbortController();
  const hangUp = new EventEmitter();
  const stopRequested = once(stop.signal, "abort").then(() => undefined);
  const io: Io = {
    out: (text) => void (printed.out += text),
    err: (text) => void (printed.err += text),
    progress: () => {},
    canAsk: false,
    ask: async () => undefined,
    askSecret: async () => undefined,
    readInput: async () => "",
    defaultSocket: "/nonexistent/admin.sock",
    environment: () => undefined,
    isTerminal: false,
    hasColor: false,
    logFd: log.fd,
    logIsTerminal: false,
    logsToJournal: false,
    clock: systemClock,
    version: "1.2.3",
    build: BUILD,
    maxLookups: 2,
    maxPasswordReads: 2,
    descriptorLimit: () => 1024,
    stopRequested,
    interrupted: stopRequested.then(() => 130),
    onReload: (callback) => void hangUp.on("SIGHUP", callback),
    sendSignal: (pid, signal) => void process.kill(pid, signal),
    onFatal: () => undefined,
    ...fields,
  };
  return { io, printed, stop: () => stop.abort(), hangUp: () => hangUp.emit("SIGHUP") };
}
