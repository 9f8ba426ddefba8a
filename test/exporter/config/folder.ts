import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { Config } from "../../../src/exporter/config/config.ts";
import { formatConfigError } from "../../../src/exporter/config/errors.ts";
import { loadInThread } from "../../../src/exporter/config/load-in-thread.ts";
import { loadConfig } from "../../../src/exporter/config/load.ts";
import { planReload } from "../../../src/exporter/config/reload.ts";
import { WHOLE_FLEET } from "../../../src/exporter/config/shard.ts";

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** A temporary folder with these files, removed when the test ends. */
export async function createFolder(files: Files): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "config-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return folder;
}

/** The errors of `config.yaml` as lines without the folder; none if it is valid. */
export async function errorsOf(files: Files | string): Promise<readonly string[]> {
  const folder = await createFolder(typeof files === "string" ? { "config.yaml": files } : files);
  const result = await loadConfig(join(folder, "config.yaml"));
  return result.ok ? [] : result.errors.map((error) => formatConfigError(error).replaceAll(`${folder}/`, ""));
}

/** The configuration in `config.yaml`; throws its errors. */
export async function configOf(files: Files | string): Promise<Config> {
  const folder = await createFolder(typeof files === "string" ? { "config.yaml": files } : files);
  const result = await loadConfig(join(folder, "config.yaml"));
  if (!result.ok) throw new Error(result.errors.map(formatConfigError).join("\n"));
  return result.config;
}

/** What a reload of this file does after the change; throws if the configuration is invalid. */
export async function planOf(file: string, change: () => Promise<void>) {
  const old = await loadConfig(file);
  await change();
  const next = old.ok ? await loadInThread({ file, shard: WHOLE_FLEET }, old) : old;
  if (!old.ok || !next.ok) throw new Error("the configuration is invalid");
  return planReload(old.config, next.config);
}
