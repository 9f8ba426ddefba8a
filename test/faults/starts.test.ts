import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, vi } from "vitest";
import { endChild } from "../support/child.ts";
import { eventually } from "../support/eventually.ts";
import { test, type Stage } from "./stage.ts";

// Programs start, some of them slowly.
vi.setConfig({ testTimeout: 40_000 });

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));

interface Command {
  /** JavaScript that runs before anything else in the process. */
  readonly before?: string;
  /** The program that bin/appliance-exporter.cjs loads; default: one that has nothing to do. */
  readonly main?: string;
  readonly args?: readonly string[];
}

/** bin/appliance-exporter.cjs in front of another program, in a process of its own. */
async function startCommand(stage: Stage, { before = "", main = "", args = [] }: Command) {
  const folder = await stage.folder({ config: {} });
  await cp(join(REPOSITORY, "bin"), join(folder, "bin"), { recursive: true });
  await cp(join(REPOSITORY, "package.json"), join(folder, "package.json"));
  await mkdir(join(folder, "dist"));
  await writeFile(join(folder, "dist/main.js"), main);
  await writeFile(join(folder, "before.cjs"), before);
  // Any port for an inspector, so that no other process of this machine is in its way.
  const flags = ["--inspect-port=0", "--require", "./before.cjs"];
  const child = spawn(process.execPath, [...flags, "bin/appliance-exporter.cjs", ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  stage.cleanUp(() => endChild(child));
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output.stderr += chunk.toString()));
  const exit = once(child, "close").then(([code, signal]) => ({ code, signal, ...output }));
  return { child, output, exit };
}

/** Says when it runs, and again after each message whether the inspector is open. */
const WAITING = `
import { url } from "node:inspector";
setInterval(() => console.log(url() === undefined ? "closed" : "open"), 20);
`;

for (const version of ["v20.18.3", "v8.17.0"]) {
  test.concurrent(`fault 53: Node ${version} is one line that says what is needed, and exit code 1`, async ({
    stage,
  }) => {
    const before = `Object.defineProperty(process, "version", { value: "${version}" });`;
    const { exit } = await startCommand(stage, { before, main: 'throw new Error("was loaded");' });
    expect(await exit).toEqual({
      code: 1,
      signal: null,
      stdout: "",
      stderr: `appliance-exporter needs Node.js 20.19 or newer; this is ${version}\n`,
    });
  });
}

test.concurrent("fault 36: a signal while modules are loaded is an end with 0 of what serves, and never a result of what answers", async ({
  stage,
}) => {
  const commands = ["--config.file=x", "run", "demo", "appliance", "check", "status"];
  const ends = commands.map(async (command) => {
    const { child, output, exit } = await startCommand(stage, { main: WAITING, args: [command] });
    await eventually(() => expect(output.stdout).toContain("closed"));
    child.kill("SIGINT");
    const { code } = await exit;
    return [command, code];
  });
  expect(await Promise.all(ends)).toEqual([
    ...commands.slice(0, 4).map((command) => [command, 0]),
    ...commands.slice(4).map((command) => [command, null]),
  ]);
});

test.concurrent("fault 52: SIGUSR1 opens no inspector, at any time", async ({ stage }) => {
  const { child, output } = await startCommand(stage, { main: WAITING });
  await eventually(() => expect(output.stdout).toContain("closed"));
  child.kill("SIGUSR1");
  const seen = output.stdout.length;
  await eventually(() => expect(output.stdout.length).toBeGreaterThan(seen + 50));
  expect(output).toEqual({ stdout: expect.not.stringContaining("open"), stderr: "" });
  expect(child.exitCode).toBeNull();
});

test.concurrent("fault 52: SIGUSR1 before our first line leaves no inspector open", async ({ stage }) => {
  const before = `
        process.kill(process.pid, "SIGUSR1");
        while (require("node:inspector").url() === undefined) {}
      `;
  const { child, output } = await startCommand(stage, { before, main: WAITING });
  await eventually(() => expect(output.stdout).toMatch(/closed\nclosed\n$/));
  expect(output.stdout).not.toContain("open");
  expect(child.exitCode).toBeNull();
});

test.concurrent("the threads of V8 have a lower priority than the event loop", async ({ stage }) => {
  const before = 'globalThis.earlier = require("node:fs").readdirSync("/proc/self/task").map(Number);';
  const main = `
    import { getPriority } from "node:os";
    const others = globalThis.earlier.filter((thread) => thread !== process.pid);
    console.log(others.length > 0, others.every((thread) => getPriority(thread) > getPriority()));
  `;
  const { exit } = await startCommand(stage, { before, main });
  expect(await exit).toEqual({ code: 0, signal: null, stdout: "true true\n", stderr: "" });
});

test.concurrent("fault 53: too few descriptors to load the program are one line that says what is needed, and exit code 1", async ({
  stage,
}) => {
  const main = 'throw Object.assign(new Error("EMFILE: too many open files, open"), { code: "EMFILE" });';
  const { exit } = await startCommand(stage, { main });
  expect(await exit).toEqual({
    code: 1,
    signal: null,
    stdout: "",
    stderr:
      "appliance-exporter cannot be loaded: too many open files; it needs a limit of 256 open files or more (ulimit -n)\n",
  });
});

test.concurrent("fault 53: an error while the program is loaded is one line without a stack, and exit code 1", async ({
  stage,
}) => {
  const { exit } = await startCommand(stage, { main: 'import "./nowhere.js";' });
  const { code, stderr } = await exit;
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^appliance-exporter cannot be loaded: Cannot find module '[^\n]*nowhere.js'[^\n]*\n$/,
  );
});

test.concurrent("fault 36: SIGUSR2 while modules are loaded ends what serves with 0", async ({ stage }) => {
  const { child, output, exit } = await startCommand(stage, { main: WAITING, args: ["run"] });
  await eventually(() => expect(output.stdout).toContain("closed"));
  child.kill("SIGUSR2");
  expect(await exit).toMatchObject({ code: 0, signal: null });
});

test.concurrent("fault 36: SIGTERM while modules are loaded is not lost: gone, exit code 0", async ({
  stage,
}) => {
  const folder = await stage.folder({ config: { appliances: [] } });
  // main.ts registers this handler just before it takes over from the listeners that were there before it.
  const before = `
        const { on } = process;
        process.on("SIGTERM", () => process.exit(0));
        process.on = function (event, ...rest) {
          if (event === "unhandledRejection") process.kill(process.pid, "SIGTERM");
          return on.call(this, event, ...rest);
        };
      `;
  await writeFile(join(folder, "before.cjs"), before);
  const flags = ["--require", "./before.cjs"];
  const child = spawn(
    process.execPath,
    [...flags, join(REPOSITORY, "dist/main.js"), "run", "--web.listen-address=127.0.0.1:0"],
    { cwd: folder, stdio: "ignore" },
  );
  stage.cleanUp(() => endChild(child));
  expect(await once(child, "close")).toEqual([0, null]);
});
