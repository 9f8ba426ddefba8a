import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Ended {
  /** The exit code. */
  readonly status: number | null | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  /** Both streams so far. */
  text(): string;
  readonly ended: Promise<Ended>;
  /** Ctrl-C; resolves at the end. */
  interrupt(): Promise<Ended>;
}

/** Somebody with a fresh copy of the project, a home of their own and nothing installed. */
export interface Newcomer {
  readonly project: string;
  readonly home: string;
  /** Types a command in a folder; `input`: what is typed into it. Resolves at its end. */
  type(command: string, folder: string, input?: string): Promise<Ended>;
  /** Starts a command that goes on. */
  start(command: string, folder: string): Running;
  /** Ends what was started and removes everything. */
  leave(): Promise<void>;
}

/** Copies what the project holds, and nothing that was built or installed in it. */
export async function arrive(): Promise<Newcomer> {
  const home = await mkdtemp(join(tmpdir(), "newcomer-"));
  const project = join(home, "appliance-exporter");
  await copyProject(project);
  const prefix = join(home, "npm");
  const env = {
    PATH: `${join(prefix, "bin")}:${process.env["PATH"]}`,
    HOME: home,
    npm_config_prefix: prefix,
    npm_config_cache: process.env["npm_config_cache"] ?? join(process.env["HOME"] ?? home, ".npm"),
    npm_config_userconfig:
      process.env["npm_config_userconfig"] ?? join(process.env["HOME"] ?? home, ".npmrc"),
    npm_config_prefer_offline: "true",
    // A machine whose registry is behind an authority of its own.
    NODE_EXTRA_CA_CERTS: process.env["NODE_EXTRA_CA_CERTS"] ?? "",
    NO_COLOR: "1",
  };
  const children: ChildProcess[] = [];
  function begin(command: string, cwd: string): ChildProcess {
    // A group of its own, as a terminal makes one: Ctrl-C is for all of it.
    const child = spawn("bash", ["-c", command], { cwd, env, detached: true });
    children.push(child);
    return child;
  }
  return {
    project,
    home,
    type: (command, cwd, input = "") => {
      const child = begin(command, cwd);
      child.stdin?.end(input);
      return follow(child).ended;
    },
    start: (command, cwd) => follow(begin(command, cwd)),
    leave: async () => {
      for (const child of children) signal(child, "SIGKILL");
      await rm(home, { recursive: true, force: true });
    },
  };
}

function follow(child: ChildProcess): Running {
  const written = { stdout: "", stderr: "" };
  child.stdout?.on("data", (chunk: Buffer) => (written.stdout += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (written.stderr += chunk.toString()));
  const ended = once(child, "close").then(([status]: (number | null)[]) => ({ ...written, status }));
  return {
    text: () => written.stdout + written.stderr,
    ended,
    interrupt: () => {
      signal(child, "SIGINT");
      return ended;
    },
  };
}

function signal({ pid, exitCode, signalCode }: ChildProcess, name: NodeJS.Signals): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  process.kill(-pid, name);
}

async function copyProject(to: string): Promise<void> {
  const listed = spawnSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  });
  if (listed.status !== 0) throw new Error(listed.stderr);
  const files = listed.stdout.split("\0").filter((file) => file !== "");
  for (const file of files) {
    await mkdir(dirname(join(to, file)), { recursive: true });
    // A file that was removed and not yet committed is listed still.
    await cp(join(root, file), join(to, file)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    });
  }
}
