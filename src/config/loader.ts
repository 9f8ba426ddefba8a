import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { inSlices } from "../support/slices.ts";
import type { ApplianceConfig } from "./config.ts";
import { createUnpacker, digestOf } from "./hand-over.ts";
import { loadConfig, type ConfigResult } from "./load.ts";
import type { Shard } from "./shard.ts";
import type { ConfigTask, PackedResult } from "./worker.ts";

/** The built file, seen from the source and from the built program alike. */
const WORKER = new URL("../../dist/config-worker.js", import.meta.url);

const MAX_LOAD_MS = 60_000;

/**
 * Loads the files of the shard's appliances as `loadConfig` does: without `running` in this thread, which polls nothing yet,
 * else in one of its own, so that too much work or memory is an error. An appliance that is configured as the one in
 * `running` is the same object.
 */
export type ConfigLoader = (running?: readonly ApplianceConfig[]) => Promise<ConfigResult>;

export function createConfigLoader(file: string, shard: Shard): ConfigLoader {
  /** What the latest complete load has read. */
  let sources: ConfigResult["sources"] = [];

  /** Loaded again when the watch looks again. */
  function failed(error: unknown): ConfigResult {
    const message = `cannot be loaded: ${error instanceof Error ? error.message : "unknown error"}`;
    return { ok: false, errors: [{ file, path: "", message }], sources };
  }

  return async (running) => {
    // A thread more would cost each start 60 ms.
    const loading =
      running === undefined ? loadConfig(file, shard) : loadInThread({ file, shard }, running).catch(failed);
    const result = await loading;
    ({ sources } = result);
    return result;
  };
}

async function loadInThread(task: ConfigTask, running: readonly ApplianceConfig[]): Promise<ConfigResult> {
  const result = await resultOf(task);
  if (!result.ok) return result;
  const { appliances: packed } = result.config;
  const known = new Map<string, ApplianceConfig>();
  await inSlices(running, (appliance) => void known.set(digestOf(appliance), appliance));
  const unpack = createUnpacker(packed);
  const appliances: ApplianceConfig[] = [];
  await inSlices(packed.digests, (digest) => void appliances.push(known.get(digest) ?? unpack(digest)));
  return { ...result, config: { ...result.config, appliances } };
}

async function resultOf(task: ConfigTask): Promise<PackedResult> {
  const worker = new Worker(WORKER, { workerData: task });
  try {
    const signal = AbortSignal.timeout(MAX_LOAD_MS);
    const [result]: readonly PackedResult[] = await once(worker, "message", { signal });
    if (result === undefined) throw new Error("the thread has ended");
    return result;
  } finally {
    await worker.terminate();
  }
}
