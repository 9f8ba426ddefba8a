import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { LogLine } from "../support/exporter.ts";
import { healthy } from "./behaviours.ts";
import { entry, EVERY_SECOND, test } from "./stage.ts";

function reloadsIn(lines: readonly LogLine[]): number {
  return lines.filter(({ msg }) => msg === "configuration reloaded").length;
}

test.concurrent("fault 28: symlink swaps, one after the other, and a rename over are noticed without a signal", async ({
  stage,
}) => {
  const server = await stage.server(healthy);
  const configWith = (count: number): string => {
    const appliances = Array.from({ length: count }, (_, nth) => entry(`a${nth}`, server));
    return JSON.stringify({ polling: { vrrp: EVERY_SECOND }, appliances });
  };
  const exporter = await stage.exporter({ config: configWith(1), watchIntervalMs: 50 });
  const { folder } = exporter;
  const swapTo = async (count: number): Promise<void> => {
    await mkdir(join(folder, `..${count}`));
    await writeFile(join(folder, `..${count}`, "config.yaml"), configWith(count));
    await symlink(`..${count}`, join(folder, "..data_tmp"));
    await rename(join(folder, "..data_tmp"), join(folder, "..data"));
  };
  const untilAppliances = (count: number) =>
    eventually(async () => {
      expect((await exporter.scrape()).value("appliance_exporter_appliances")).toBe(count);
    });
  await swapTo(2);
  await rm(join(folder, "config.yaml"));
  await symlink("..data/config.yaml", join(folder, "config.yaml"));
  await untilAppliances(2);
  await swapTo(3);
  await untilAppliances(3);
  await writeFile(join(folder, "next"), configWith(4));
  await rename(join(folder, "next"), join(folder, "config.yaml"));
  await untilAppliances(4);
  expect(reloadsIn(exporter.log.lines)).toBe(3);
});

test.concurrent("fault 28: 100 SIGHUPs at once are few reloads, and polling goes on", async ({ stage }) => {
  const server = await stage.server(healthy);
  const config = { polling: { vrrp: EVERY_SECOND }, appliances: [entry("a", server)] };
  const program = await stage.program({ config });
  for (let nth = 0; nth < 100; nth += 1) program.kill("SIGHUP");
  await eventually(() => expect(reloadsIn(program.log())).toBeGreaterThan(0));
  const before = server.requests.length;
  await eventually(() => expect(server.requests.length).toBeGreaterThanOrEqual(before + 2));
  expect(reloadsIn(program.log())).toBeLessThan(100);
});
