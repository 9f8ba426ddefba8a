import { parentPort, workerData } from "node:worker_threads";
import type { Config } from "./config.ts";
import { packAppliances, type PackedAppliances } from "./hand-over.ts";
import { loadConfig } from "./load.ts";
import type { Loaded } from "./loading.ts";
import type { Shard } from "./shard.ts";

/** What the thread is to load. */
export interface ConfigTask {
  readonly file: string;
  readonly shard: Shard;
}

/** A `ConfigResult` whose appliances are texts. */
export type PackedResult = Loaded<{
  readonly config: Omit<Config, "appliances"> & { readonly appliances: PackedAppliances };
  readonly shown: string;
}>;

// The entry of a thread, which does one task.
if (parentPort !== null) {
  const task: ConfigTask = workerData;
  const result = await loadConfig(task.file, task.shard);
  const packed: PackedResult = result.ok
    ? { ...result, config: { ...result.config, appliances: packAppliances(result.config.appliances) } }
    : result;
  parentPort.postMessage(packed);
}
