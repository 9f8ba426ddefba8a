import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { useTemporaryFolder } from "./support.ts";
import { COMMAND } from "../../support/command.ts";
import { endChild } from "../../support/child.ts";

// npm starts the program, and ends it.
vi.setConfig({ testTimeout: 40_000, expect: { poll: { timeout: 30_000 } } });

// An open handle would keep the program running.
test("the demo as a process ends by itself on Ctrl-C, with no handle and no file left", async () => {
  const folder = await useTemporaryFolder();
  const child = spawn(process.execPath, [COMMAND, "demo", "--web.listen-address=127.0.0.1:0"], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => endChild(child));
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  const exited = once(child, "exit");
  await expect.poll(() => out).toContain("Press Ctrl-C to stop.");
  child.kill("SIGINT");
  expect(await exited).toEqual([0, null]);
  expect(await readdir(folder)).toEqual([]);
});

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // All of them have ended.
  }
}

interface Npm {
  readonly npm: ChildProcess;
  /** The folder for temporary files. */
  readonly temporary: string;
  readonly out: () => string;
  /** Resolves when all processes have ended: each of them has the pipe. */
  readonly closed: Promise<unknown>;
}

/** Runs `npm run demo` with another build: that of the project would replace what other tests run. */
async function runDemo(build: string): Promise<Npm> {
  const folder = await useTemporaryFolder();
  const temporary = join(folder, "temporary");
  const { scripts }: Manifest = JSON.parse(readFileSync("package.json", "utf8"));
  await writeFile(join(folder, "package.json"), JSON.stringify({ scripts: { ...scripts, build } }));
  await mkdir(temporary);
  await symlink(resolve("bin"), join(folder, "bin"));
  const npm = spawn("npm", ["run", "--silent", "demo", "--", "--web.listen-address=127.0.0.1:0"], {
    cwd: folder,
    // Newer versions of npm leave a cache of their own there.
    env: { ...process.env, TMPDIR: temporary, NODE_DISABLE_COMPILE_CACHE: "1" },
    stdio: ["ignore", "pipe", "ignore"],
    // A group of its own, so that nothing is left after a failure.
    detached: true,
  });
  onTestFinished(() => endGroup(npm));
  let out = "";
  npm.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  return { npm, temporary, out: () => out, closed: once(npm.stdout, "close") };
}

test("npm run demo ends with all its processes at SIGTERM", async () => {
  const { npm, temporary, out, closed } = await runDemo("true");
  await expect.poll(out).toContain("Press Ctrl-C to stop.");
  npm.kill("SIGTERM");
  await closed;
  expect(out()).toContain("\nStopped; nothing is left behind.\n");
  expect(await readdir(temporary)).toEqual([]);
});

test("npm run demo ends with its build at SIGTERM, and begins nothing after that", async () => {
  const { npm, out, closed } = await runDemo(
    `exec node --eval 'console.log("building"); setInterval(() => {}, 1e6)'`,
  );
  await expect.poll(out).toBe("building\n");
  npm.kill("SIGTERM");
  await closed;
  expect(out()).toBe("building\n");
});

test("npm run demo begins nothing after a build that fails", async () => {
  const { npm, out, closed } = await runDemo("exit 7");
  const exited = once(npm, "exit");
  await closed;
  expect(await exited).toEqual([7, null]);
  expect(out()).toBe("");
});
