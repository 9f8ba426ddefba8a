import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, inject, onTestFinished } from "vitest";
import { toolPath } from "../support/tool.ts";

const execute = promisify(execFile);

/** A Debian 12 without Node.js, of this test file alone. */
export interface Root {
  readonly folder: string;
  /** Runs a command in it; returns what it prints to stdout. Rejects if it fails. */
  run(script: string): Promise<string>;
  /** Starts a command in it; stopped at the end of the test. */
  start(script: string): ChildProcess;
}

/** Shares the network of this machine and nothing else. */
const ISOLATED = ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];

/** Call it outside of the tests. */
export async function createRoot(): Promise<Root> {
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-"));
  afterAll(() => rm(folder, { recursive: true }));
  await execute("tar", ["--extract", "--file", inject("rootTar"), "--directory", folder]);
  const command = (script: string) => [...ISOLATED, `--root=${folder}`, "/bin/sh", "-ec", script];
  const env = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };
  return {
    folder,
    run: async (script) => (await execute(toolPath("unshare"), command(script), { env })).stdout,
    start: (script) => {
      const child = spawn(toolPath("unshare"), command(script), {
        env,
        stdio: ["ignore", "pipe", "inherit"],
      });
      onTestFinished(async () => {
        child.kill("SIGKILL");
        await once(child, "close");
      });
      return child;
    },
  };
}

/** The path of the package that ends so. */
export async function packagePath(ending: string): Promise<string> {
  const out = join(inject("project"), "out");
  const name = (await readdir(out)).find((each) => each.endsWith(ending));
  if (name === undefined) throw new Error(`no package ${ending}`);
  return join(out, name);
}
