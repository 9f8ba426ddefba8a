import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, inject, onTestFinished } from "vitest";
import { eventually } from "../support/eventually.ts";
import { ROOT_TAR, toolPath } from "../support/tool.ts";
import { COMMITS } from "./prepare.ts";

const execute = promisify(execFile);

const required = createRequire(import.meta.url);
const manifest: { readonly version: string } = required("../../package.json");
/** Of the packages. */
export const VERSION = manifest.version.replace(/-dev$/, `$&.${COMMITS}`);
/** Of the Debian packages. A prerelease sorts before its release. */
export const DEB_VERSION = VERSION.replace("-", "~");
/** Of the Node.js in the packages. */
export const { version: NODE_VERSION }: { readonly version: string } = required("../../packaging/node.json");

/** The file that is written after all packages. */
export const CHECKSUMS = "SHA256SUMS";
/** Takes half a minute on a quiet machine. */
const MAKING_MS = 600_000;

/** The environment of commands in it. */
export const ENV = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };

/** A Debian 12 without Node.js, of this test file alone. */
export interface Root {
  readonly folder: string;
  /** Runs a command in it; returns what it prints to stdout. Rejects if it fails. */
  run(script: string): Promise<string>;
  /** Starts a command in it; stopped at the end of the test. */
  start(script: string): ChildProcess;
}

/** A child of a process, as this machine numbers them. */
export function firstChild(pid: number | undefined): number {
  const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ");
  if (first === undefined || first === "") throw new Error("the program has ended");
  return Number(first);
}

/** Runs a command in all namespaces of a process; returns its exit code and output. */
export function enter(pid: number, command: readonly string[]) {
  return new Promise<{ readonly code: number; readonly output: string }>((resolve) => {
    execFile(
      toolPath("nsenter"),
      [`--target=${pid}`, "--all", ...command],
      { env: ENV },
      (error, stdout, stderr) => {
        resolve({ code: Number(error?.code ?? 0), output: stdout + stderr });
      },
    );
  });
}

/** Starts a program in namespaces of its own; ended with all its processes at the end of the test. */
export function unshare(args: readonly string[], env = process.env) {
  const child = spawn(toolPath("unshare"), ["--mount", "--pid", "--fork", ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  /** The first process in the namespace of processes. */
  const pid = () => firstChild(child.pid);
  onTestFinished(async () => {
    if (child.exitCode !== null) return;
    // Not by --kill-child, which does not survive a change of the user.
    process.kill(pid(), "SIGKILL");
    await once(child, "close");
  });
  return { child, pid };
}

/** Call it outside of the tests. */
export async function createRoot(): Promise<Root> {
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-"));
  afterAll(() => rm(folder, { recursive: true }));
  await execute("tar", ["--extract", "--file", ROOT_TAR, "--directory", folder]);
  const command = (script: string) => ["--mount-proc", `--root=${folder}`, "/bin/sh", "-ec", script];
  return {
    folder,
    run: async (script) => {
      const args = ["--mount", "--pid", "--fork", ...command(script)];
      return (await execute(toolPath("unshare"), args, { env: ENV })).stdout;
    },
    start: (script) => unshare(command(script), ENV).child,
  };
}

/** The path of the package whose name ends so, when all packages are made. */
export async function packagePath(ending: string): Promise<string> {
  const out = join(inject("project"), "out");
  const names = await eventually(
    async () => {
      const made = await readdir(out);
      if (!made.includes(CHECKSUMS)) throw new Error("the packages are not made");
      return made;
    },
    { timeoutMs: MAKING_MS },
  );
  const name = names.find((each) => each.endsWith(ending));
  if (name === undefined) throw new Error(`no package ${ending}`);
  return join(out, name);
}
