import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { constants } from "node:os";
import { setTimeout } from "node:timers/promises";
import { errorCode } from "../support/errors.ts";
import type { Io } from "../exporter/command/command.ts";

/** The time that the processes of the command have to end after SIGTERM. */
const GRACE_MS = 2000;
const LOOK_MS = 50;

export interface DrillCommand {
  /** Ends all processes of the command that still run: by SIGTERM, and by SIGKILL if they have not ended two seconds later. */
  end(): Promise<void>;
}

/** Runs a command of the shell in a process group of its own, and shows its output and its end. */
export function runCommand(
  command: string,
  io: Pick<Io, "err" | "sendSignal">,
  act: (text: string) => void,
): DrillCommand {
  act(`The command began: ${command}`);
  const child = spawn(command, { shell: true, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => io.err(chunk.toString()));
  let isEnding = false;
  const report = (how: string, what = "the command"): void => {
    act(`${what.replace(/^./, (char) => char.toUpperCase())} ${how}.`);
    io.err(`${what} ${how}\n`);
  };

  /** Sends a signal to the group; 0 only looks. Returns the code of the error: `ESRCH` if no process is left. */
  function signal(name?: "SIGTERM" | "SIGKILL"): string | undefined {
    // Without a group, -0 would be that of the drill.
    if (child.pid === undefined) return "ESRCH";
    try {
      io.sendSignal(-child.pid, name === undefined ? 0 : constants.signals[name]);
      return undefined;
    } catch (error) {
      return errorCode(error);
    }
  }

  const isRunning = async (): Promise<boolean> => signal() !== "ESRCH" && isGroupRunning(child.pid);

  /** Resolves to whether the group has ended in time. */
  async function hasEnded(): Promise<boolean> {
    const untilMs = performance.now() + GRACE_MS;
    while (performance.now() < untilMs) {
      if (!(await isRunning())) return true;
      await setTimeout(LOOK_MS);
    }
    return false;
  }

  /** The id of a group without processes may be that of another one later. */
  let isGone = false;
  child.on("error", ({ message }) => report(`could not run: ${message}`));
  child.on("exit", (code, by) => {
    isGone = signal() === "ESRCH";
    if (!isEnding) report(code === null ? `was ended by ${by}` : `ended with exit code ${code}`);
  });
  return {
    end: async () => {
      if (isGone || !(await isRunning())) return;
      isEnding = true;
      const hasShell = child.exitCode === null && child.signalCode === null;
      const what = hasShell ? "the command" : "what the command had left running";
      signal("SIGTERM");
      if (await hasEnded()) {
        report("was ended by SIGTERM, with the drill", what);
        return;
      }
      const error = signal("SIGKILL");
      const hasFailed = error !== undefined && error !== "ESRCH";
      const seconds = GRACE_MS / 1000;
      report(
        hasFailed
          ? `could not be ended: ${error}`
          : `was ended by SIGKILL, ${seconds} seconds after SIGTERM, with the drill`,
        what,
      );
      // A process that has left the group may keep the pipes.
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
    },
  };
}

/**
 * Whether a process of a group runs. One that has ended stays in the group until its parent asks for that, which may be never in a
 * container. Where there is no /proc, it counts as running.
 */
async function isGroupRunning(group: number | undefined): Promise<boolean> {
  const names = await readdir("/proc").catch(() => undefined);
  if (names === undefined) return true;
  const ids = names.filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(ids.map((id) => readFile(`/proc/${id}/stat`, "utf8").catch(() => "")));
  return stats.some((stat) => {
    // The name of a program, in parentheses, may contain anything.
    const [state = "", , own] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return Number(own) === group && !"ZX".includes(state);
  });
}
