import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import type { Worker } from "node:worker_threads";
import { ADMIN_SOCKET, type ExitCode, type Io } from "./exporter/command/command.ts";
import { runProgram } from "./program/program.ts";
import type { Build } from "./support/build.ts";
import { watchDescriptorLimit } from "./support/open-files.ts";
import { describeBug } from "./support/errors.ts";
import { journalErrors, isJournal } from "./support/log.ts";
import { systemClock } from "./support/clock.ts";

/** libuv's default for UV_THREADPOOL_SIZE. */
const DEFAULT_THREADS = 4;
const STDERR_FD = 2;
/** The exit code of a command whose results could not be written. */
const LOST_EXIT_CODE = 2;
/** The longest time that remaining work may take after the program has ended. */
const LINGER_MS = 1000;
const RETRY_MS = 50;
/**
 * The signals to stop, and the exit codes of commands that end by them. SIGUSR2 has no meaning here. By default it would kill the process,
 * which would lose the latest lines of the journal, so it ends the process as SIGTERM does.
 */
const SIGNALS = [
  ["SIGTERM", 143],
  ["SIGINT", 130],
  ["SIGUSR2", 143],
] as const;
/** The time from a signal to stop until the last line of the log, which SIGKILL follows. */
const KILL_AFTER_MS = 8000;
const LAST_LINE_MS = 1500;

/** The bundler inserts the facts about the build. */
declare const BUILD: { readonly version: string } & Pick<Build, "revision" | "branch" | "date">;
const { version, ...build } = BUILD;

// ps and top show this title. Without a title, Node.js 24 shows "MainThread".
process.title = ["appliance-exporter", ...process.argv.slice(2)].join(" ");

let fatalHandler = async (message: string, detail: string): Promise<void> => {
  writeSync(STDERR_FD, `${message}: ${detail}\n`);
};

const workers = new Set<Worker>();
process.on("worker", (worker) => {
  workers.add(worker);
  worker.once("exit", () => workers.delete(worker));
});

/** Returns the work for which process.exit() would wait: threads in a system call, for as long as a file system or a resolver hangs. */
function threadWork(): readonly string[] {
  const requests = process
    .getActiveResourcesInfo()
    .filter((name) => /^(FS|FileHandle|GetAddrInfo)/.test(name));
  return [...new Set(requests), ...Array.from(workers, () => "Worker")];
}

/** Ends the process as soon as process.exit() cannot hang. */
function exit(exitCode: number): void {
  for (const worker of workers) void worker.terminate();
  const attempt = (): unknown => threadWork().length > 0 || process.exit(exitCode);
  attempt();
  setInterval(attempt, RETRY_MS);
}

function kill(): void {
  process.kill(process.pid, "SIGKILL");
}

let endTimer: NodeJS.Timeout | undefined;
/** Kills the process when its time to end is over, since nothing else ends a thread that waits for a file system. */
function limitEnd(): void {
  endTimer ??= setTimeout(() => {
    setTimeout(kill, LAST_LINE_MS);
    const detail = `after ${KILL_AFTER_MS / 1000} s it still waits for ${threadWork().join(", ") || "its work"}`;
    void fatalHandler("fatal: the process cannot end by itself", detail).finally(kill);
  }, KILL_AFTER_MS).unref();
}

function exitFatally(error: unknown): void {
  limitEnd();
  void fatalHandler("fatal: uncaught error", describeBug(error)).finally(() => exit(1));
}
process.on("uncaughtException", exitFatally);
process.on("unhandledRejection", exitFatally);

// Node.js would open its inspector on this signal.
process.on("SIGUSR1", () => {});

const threads = Number(process.env["UV_THREADPOOL_SIZE"]) || DEFAULT_THREADS;

// If stderr is closed too, the exit code still reports the error.
process.stderr.on("error", () => {});

/** Whether results were lost that a reader expects. A reader that stops, such as head, loses nothing. */
let hasLost = false;
const interrupted = new Promise<ExitCode>((resolve) => {
  for (const [signal, exitCode] of SIGNALS) {
    const others = process.listeners(signal);
    // This listener comes before the others go. Without any for a moment, a signal during the load of modules would be lost.
    process.on(signal, () => resolve(exitCode));
    for (const other of others) process.off(signal, other);
  }
});
const stopRequested = new Promise<void>((resolve) => {
  void interrupted.then(() => resolve());
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    resolve();
    if (error.code === "EPIPE" || hasLost) return;
    hasLost = true;
    process.stderr.write(`cannot write to standard output: ${error.message}\n`);
  });
});

/** Resolves to the next line of stdin; to an empty line at its end. Does not resolve after a signal to stop. */
function answerTo(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  void stopRequested.then(() => lines.removeAllListeners("close").close());
  return new Promise((resolve) => {
    lines.once("close", () => resolve(""));
    lines.question(question, (answer) => {
      resolve(answer);
      lines.close();
    });
  });
}

/** Asks as `answerTo` does, without an echo: the terminal is raw meanwhile, so that Ctrl-C is a character. */
function secretAnswerTo(question: string): Promise<string> {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output, terminal: true, historySize: 0 });
  // From here on the terminal shows nothing.
  process.stderr.write(question);
  void stopRequested.then(() => lines.removeAllListeners("close").close());
  return new Promise((resolve) => {
    lines.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
    lines.once("close", () => {
      process.stderr.write("\n");
      resolve("");
    });
    lines.once("line", (answer) => {
      resolve(answer);
      lines.close();
    });
  });
}

/** After Ctrl-D no further line comes, and nothing would keep the process alive until one does. */
const mayAnswer = (): boolean => process.stdin.isTTY && !process.stdin.readableEnded;

const logsToJournal = isJournal(STDERR_FD, process.env["JOURNAL_STREAM"]);
const io: Io = {
  out: (text) => void (hasLost || process.stdout.write(text)),
  err: (text) => void process.stderr.write(logsToJournal ? journalErrors(text) : text),
  progress: (text) => void (process.stderr.isTTY && process.stderr.write(`\r\u001B[K${text}`)),
  canAsk: process.stdin.isTTY,
  ask: async (question) => (mayAnswer() ? answerTo(question) : undefined),
  askSecret: async (question) => (mayAnswer() ? secretAnswerTo(question) : undefined),
  readInput: () => textOf(process.stdin),
  defaultSocket: ADMIN_SOCKET,
  environment: (name) => process.env[name],
  isTerminal: process.stdout.isTTY,
  columns: process.stdout.columns,
  hasColor: process.stdout.isTTY && process.stdout.hasColors(),
  logFd: STDERR_FD,
  logIsTerminal: process.stderr.isTTY,
  logsToJournal,
  clock: systemClock,
  version,
  build: { ...build, nodeVersion: process.version, platform: `${process.platform}/${process.arch}` },
  // Lookups and reads take at most three quarters of the threads together. Compression has the rest, even if the resolver and the disk
  // hang.
  maxLookups: Math.max(1, Math.floor(threads / 2)),
  maxPasswordReads: Math.max(1, Math.floor(threads / 4)),
  descriptorLimit: watchDescriptorLimit(systemClock),
  stopRequested,
  interrupted,
  onReload: (callback) => void process.on("SIGHUP", callback),
  sendSignal: (pid, signal) => void process.kill(pid, signal),
  onFatal: (words) => (fatalHandler = words),
};

void stopRequested.then(limitEnd);
const code = await runProgram(process.argv.slice(2), io);
const exitNow = (): void => exit(hasLost ? LOST_EXIT_CODE : code);
// Node.js emits this event when everything is written. Without a listener it exits by itself, and a signal decides the exit code.
process.on("beforeExit", exitNow);
setTimeout(exitNow, LINGER_MS).unref();
limitEnd();
const [signal] = SIGNALS.find(([, exitCode]) => exitCode === code) ?? [];
if (signal !== undefined) {
  exitNow();
  // The signal itself ends a thread that waits for a file system or a resolver.
  setTimeout(() => process.removeAllListeners(signal).kill(process.pid, signal), LINGER_MS / 2);
}
