import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, inject, onTestFinished } from "vitest";
import { toolPath } from "../support/tool.ts";

const execute = promisify(execFile);

const required = createRequire(import.meta.url);
/** Of the project. */
export const { version: VERSION }: { readonly version: string } = required("../../package.json");
/** Of the Node.js in the packages. */
export const { version: NODE_VERSION }: { readonly version: string } = required("../../packaging/node.json");

/** A Debian 12 without Node.js, of this test file alone. */
export interface Root {
  readonly folder: string;
  /** Runs a command in it; returns what it prints to stdout. Rejects if it fails. */
  run(script: string): Promise<string>;
  /** Starts a command in it; stopped at the end of the test. */
  start(script: string): ChildProcess;
}

/** Starts a program in namespaces of its own; ended with all its processes at the end of the test. */
export function unshare(args: readonly string[], env = process.env) {
  const child = spawn(toolPath("unshare"), ["--mount", "--pid", "--fork", ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  /** The first process in the namespace of processes, as this machine numbers it. */
  const pid = (): number => {
    const [first] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").split(" ");
    if (first === undefined || first === "") throw new Error("the program has ended");
    return Number(first);
  };
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
  await execute("tar", ["--extract", "--file", inject("rootTar"), "--directory", folder]);
  const command = (script: string) => ["--mount-proc", `--root=${folder}`, "/bin/sh", "-ec", script];
  const env = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };
  return {
    folder,
    run: async (script) => {
      const args = ["--mount", "--pid", "--fork", ...command(script)];
      return (await execute(toolPath("unshare"), args, { env })).stdout;
    },
    start: (script) => unshare(command(script), env).child,
  };
}

/** The path of the package that ends so. */
export async function packagePath(ending: string): Promise<string> {
  const out = join(inject("project"), "out");
  const name = (await readdir(out)).find((each) => each.endsWith(ending));
  if (name === undefined) throw new Error(`no package ${ending}`);
  return join(out, name);
}
