import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const run = promisify(execFile);
const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
/** What lies beside the exporter: packages, and its page and threads, which the build makes of its own files. */
const BESIDE = ["node_modules", "dist", "tsconfig.json", "package.json"];

/** Starts an exporter, and prints the statuses of what it serves. */
const PROGRAM = `
import { startExporter } from "./src/exporter/exporter.ts";
import { createLog } from "./src/support/log.ts";
import { systemClock } from "./src/support/clock.ts";

const started = await startExporter({
  configFile: "config.json",
  listenAddresses: [{ host: "127.0.0.1", port: 0 }],
  telemetryPath: "/metrics",
  enableLifecycle: true,
  version: "1.2.3",
  build: { revision: "", branch: "", date: "", nodeVersion: "", platform: "" },
  maxLookups: 2,
  maxPasswordReads: 2,
  clock: systemClock,
  logger: createLog("error", "json", 2).logger,
  droppedLogLines: () => 0,
});
if (!started.ok) throw new Error(JSON.stringify(started.errors));
const url = "http://" + started.exporter.addresses[0];
const statuses: Record<string, number> = {};
for (const path of ["/", "/metrics", "/api/v1/fleet", "/api/v1/history", "/-/healthy"])
  statuses[path] = (await fetch(url + path)).status;
const reloaded = await started.exporter.reload();
await started.exporter.stop();
console.log(JSON.stringify({ statuses, reloaded }));
`;

async function createCopy(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-alone-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const room of ["exporter", "support"])
    await cp(join(REPOSITORY, "src", room), join(folder, "src", room), { recursive: true });
  for (const name of BESIDE) await symlink(join(REPOSITORY, name), join(folder, name));
  const appliances = [{ name: "waf", base_url: "https://127.0.0.1:1" }];
  await writeFile(join(folder, "program.ts"), PROGRAM);
  await writeFile(join(folder, "config.json"), JSON.stringify({ appliances }));
  const client = "src/exporter/page/client";
  const tsconfig = { extends: "./tsconfig.json", include: ["src", "program.ts"], exclude: [client] };
  await writeFile(join(folder, "tsconfig.alone.json"), JSON.stringify(tsconfig));
  return folder;
}

test("without the other wings, the exporter compiles, runs, and has no history", async () => {
  const cwd = await createCopy();
  const compiler = join(REPOSITORY, "node_modules/typescript/bin/tsc");
  await run(process.execPath, [compiler, "--noEmit", "-p", "tsconfig.alone.json"], { cwd });
  const { stdout } = await run(process.execPath, ["--import", "tsx", "program.ts"], { cwd });
  expect(JSON.parse(stdout)).toEqual({
    statuses: { "/": 200, "/metrics": 200, "/api/v1/fleet": 200, "/api/v1/history": 404, "/-/healthy": 200 },
    reloaded: { ok: true },
  });
});
