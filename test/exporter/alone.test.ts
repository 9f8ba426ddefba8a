import { readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { startExporter } from "../../src/exporter/exporter.ts";
import { systemClock } from "../../src/support/clock.ts";
import { BUILD } from "../support/build-facts.ts";
import { createMemoryLog, writeSetup } from "../support/exporter.ts";

const SOURCE = fileURLToPath(new URL("../../src", import.meta.url));
const ALONE = ["exporter", "support"];

/** The files of the source that a file imports, types among them, by their paths in it. */
function importsOf(file: string): readonly string[] {
  const text = readFileSync(file, "utf8");
  const imports = text.matchAll(/(?:\bfrom|\bimport\(?|\brequire\()\s*["'](\.[^"']+)["']/g);
  return Array.from(imports, ([, path = ""]) => relative(SOURCE, join(dirname(file), path)));
}

test("the exporter imports nothing of the other wings", () => {
  const files = ALONE.flatMap((room) =>
    readdirSync(join(SOURCE, room), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => join(SOURCE, room, name)),
  );
  const imported = files.flatMap(importsOf);
  expect(imported).toContain("support/log.ts");
  expect(imported.filter((path) => !ALONE.includes(path.split("/")[0] ?? ""))).toEqual([]);
});

test("without the other wings, the exporter runs, and has no history", async () => {
  const appliances = [{ name: "waf", base_url: "https://127.0.0.1:1" }];
  const folder = await writeSetup({ config: { appliances } });
  onTestFinished(() => rm(folder, { recursive: true }));
  const started = await startExporter({
    configFile: join(folder, "config.yaml"),
    listenAddresses: [{ host: "127.0.0.1", port: 0 }],
    telemetryPath: "/metrics",
    enableLifecycle: true,
    version: "1.2.3",
    build: BUILD,
    maxLookups: 2,
    maxPasswordReads: 2,
    clock: systemClock,
    logger: createMemoryLog().logger,
    droppedLogLines: () => 0,
  });
  if (!started.ok) throw new Error(JSON.stringify(started.errors));
  const { addresses, reload, stop } = started.exporter;
  onTestFinished(stop);
  const paths = ["/", "/metrics", "/api/v1/fleet", "/api/v1/history", "/-/healthy"];
  const statuses = paths.map(async (path) => [path, (await fetch(`http://${addresses[0]}${path}`)).status]);
  expect(Object.fromEntries(await Promise.all(statuses))).toEqual({
    "/": 200,
    "/metrics": 200,
    "/api/v1/fleet": 200,
    "/api/v1/history": 404,
    "/-/healthy": 200,
  });
  expect(await reload()).toEqual({ ok: true });
});
