import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { toolPath } from "../../support/tool.ts";

/** Where a command runs: in the lab's own network, or in one of the namespaces made there. */
export type Place = "lab" | { readonly namespace: string };

/**
 * Namespaces of processes, networks and mounts that the machine does not see; names of networks and process ids are its
 * own. When the first process in it ends, the kernel ends all others, and it ends when this process does, however that is.
 */
export interface Sandbox {
  /** Starts a program. */
  spawn(place: Place, command: readonly string[], options: SpawnOptions): Spawned;
  /** What a command printed; rejects with its last words where it failed. */
  run(place: Place, command: readonly string[], input?: string): Promise<string>;
  /** Ends every program in it, and with them the networks. */
  close(): Promise<void>;
}

interface SpawnOptions {
  readonly cwd: string;
  /** A file's descriptor. */
  readonly output: number;
  readonly env: Readonly<Record<string, string>>;
}

interface Spawned {
  /** Ends when the program does. */
  readonly child: ChildProcess;
  signal(signal: NodeJS.Signals): Promise<void>;
}

/** What runs in the sandbox. */
const PROGRAMS = ["ip", "setpriv", "unshare", "keepalived", "nginx", "prometheus", "prometheus-alertmanager"];
const DIES_WITH_PARENT_ARGUMENTS = ["--pdeathsig", "KILL", "--"];
const DIES_WITH_PARENT = ["setpriv", ...DIES_WITH_PARENT_ARGUMENTS];
const UNSHARE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--mount", "--net", "--"];
// It reads until its input ends, and takes in orphans that end before; `exec` would take that duty from the shell.
const FIRST = "mount -t tmpfs tmpfs /run; mkdir /run/netns; ip link set lo up; echo ready; cat; exit";
// Times are measured: what else the machine does has to wait.
const FIRST_SERVED = ["nice", "--adjustment=-15"];
// Entering a mount namespace leads to its root. Then it tells its process id, as the sandbox counts them, and becomes the
// program.
const BECOME = '{ echo -15 >/proc/self/autogroup; } 2>/dev/null || :; cd "$0"; echo $$ >&3; exec "$@" 3>&-';

/** A new sandbox. Rejects if a program is missing, or if this user may not make one. */
export async function openSandbox(): Promise<Sandbox> {
  for (const command of PROGRAMS) toolPath(command);
  const holder = spawn("setpriv", [...DIES_WITH_PARENT_ARGUMENTS, ...UNSHARE, "sh", "-ec", FIRST], {
    stdio: "pipe",
  });
  const ended = once(holder, "exit");
  await Promise.race([
    once(holder.stdout, "data"),
    ended.then(async () => Promise.reject(new Error(`no sandbox: ${await text(holder.stderr)}`))),
  ]);
  const enter = (place: Place) => [...enterArguments(holder.pid), ...inNamespace(place)];
  return {
    spawn: (place, command, options) => {
      const child = spawnProgram(
        [...enter(place), ...FIRST_SERVED, "sh", "-ec", BECOME, options.cwd, ...command],
        options,
      );
      const pid = firstOutput(child);
      return {
        child,
        signal: async (signal) => {
          await run([...enter("lab"), "kill", "-s", signal.slice("SIG".length), await pid]);
          // nsenter, which waits for the program, stops when it does, and goes on only when told.
          if (signal !== "SIGSTOP") child.kill("SIGCONT");
        },
      };
    },
    run: (place, command, input) => run([...enter(place), ...command], input),
    close: async () => {
      holder.stdin.end();
      await ended;
    },
  };
}

/** The process namespace is the one of the holder's children; the others are the holder's own. */
function enterArguments(holder = 0): readonly string[] {
  const at = `/proc/${holder}/ns`;
  const namespaces = [`--mount=${at}/mnt`, `--net=${at}/net`, `--pid=${at}/pid_for_children`];
  return [...DIES_WITH_PARENT, "nsenter", ...namespaces, "--", ...DIES_WITH_PARENT];
}

function inNamespace(place: Place): readonly string[] {
  return place === "lab" ? [] : ["ip", "netns", "exec", place.namespace];
}

function spawnProgram(command: readonly string[], { output, env }: SpawnOptions): ChildProcess {
  const stdio = ["ignore" as const, output, output, "pipe" as const];
  const [program = "", ...rest] = command;
  return spawn(program, rest, { env: { ...process.env, ...env }, stdio, detached: true });
}

async function firstOutput({ stdio }: ChildProcess): Promise<string> {
  const [, , , pipe] = stdio;
  if (pipe === null || pipe === undefined || !("read" in pipe)) throw new Error("not a pipe");
  const [told] = await once(pipe, "data");
  pipe.destroy();
  return String(told).trim();
}

async function run([program = "", ...rest]: readonly string[], input?: string): Promise<string> {
  const child = spawn(program, rest, { stdio: "pipe" });
  // A command that does not read may be over before it is written to.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const exit = once(child, "close");
  const [out, words, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  if (code !== 0) throw new Error(`${rest.join(" ")}: ${words.trim() === "" ? out : words}`);
  return out;
}
