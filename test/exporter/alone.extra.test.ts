import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copyExporter } from "../support/exporter-copy.ts";

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

test("without the other wings, the exporter compiles, runs, and has no history", async () => {
  const { folder, compile, run } = await copyExporter(PROGRAM);
  const appliances = [{ name: "waf", base_url: "https://127.0.0.1:1" }];
  await writeFile(join(folder, "config.json"), JSON.stringify({ appliances }));
  await compile();
  expect(JSON.parse(await run())).toEqual({
    statuses: { "/": 200, "/metrics": 200, "/api/v1/fleet": 200, "/api/v1/history": 404, "/-/healthy": 200 },
    reloaded: { ok: true },
  });
});
