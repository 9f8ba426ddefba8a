import { parentPort, workerData } from "node:worker_threads";
import { packAppliances, type ConfigTask, type PackedResult } from "./load-in-thread.ts";
import { loadConfig } from "./load.ts";

// This file is the entry of a thread, which does one task.
const { file, shard }: ConfigTask = workerData;
const result = await loadConfig(file, shard);
const packed: PackedResult = result.ok
  ? { ...result, config: { ...result.config, appliances: packAppliances(result.config.appliances) } }
  : result;
parentPort?.postMessage(packed);
