import { on } from "node:events";
import { Worker } from "node:worker_threads";
import type { ApplianceConfig } from "./config.ts";
import type { ConfigResult } from "./load.ts";
import { createUnpacker, digestOf } from "./hand-over.ts";
import type { Shard } from "./shard.ts";
import type { ConfigMessage, ConfigTask } from "./worker.ts";

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
  const digests = new WeakMap<ApplianceConfig, string>();

  /** What the latest complete load has read. */
  let sources: ConfigResult["sources"] = [];

  async function loadHere(): Promise<ConfigResult> {
    // Only here: afterwards this thread needs no YAML library, and a thread more would cost each start 60 ms.
    const { loadConfig } = await import("./load.ts");
    const result = await loadConfig(file, shard);
    for (const appliance of result.ok ? result.config.appliances : []) {
      digests.set(appliance, digestOf(appliance));
    }
    return result;
  }

  async function loadInThread(running: readonly ApplianceConfig[]): Promise<ConfigResult> {
    const known = running.map((appliance) => digests.get(appliance) ?? "");
    const appliances: ApplianceConfig[] = [];
    const unpack = createUnpacker();
    for await (const message of messagesOf({ file, shard, known })) {
      if ("result" in message) {
        const { result } = message;
        return result.ok ? { ...result, config: { ...result.config, appliances } } : result;
      }
      for (const each of message.appliances) {
        const appliance = typeof each === "number" ? running[each] : unpack(each.appliance);
        if (appliance === undefined) continue;
        if (typeof each !== "number") digests.set(appliance, each.digest);
        appliances.push(appliance);
      }
    }
    throw new Error("the thread that reads the configuration has ended");
  }

  /** Loaded again when the watch looks again. */
  function failed(error: unknown): ConfigResult {
    const message = `cannot be loaded: ${error instanceof Error ? error.message : "unknown error"}`;
    return { ok: false, errors: [{ file, path: "", message }], sources };
  }

  return async (running) => {
    const result = await (running === undefined ? loadHere() : loadInThread(running).catch(failed));
    ({ sources } = result);
    return result;
  };
}

async function* messagesOf(task: ConfigTask): AsyncGenerator<ConfigMessage> {
  const worker = new Worker(WORKER, { workerData: task });
  const signal = AbortSignal.timeout(MAX_LOAD_MS);
  try {
    for await (const [message] of on(worker, "message", { close: ["exit"], signal })) {
      yield message;
      worker.postMessage("next");
    }
  } finally {
    await worker.terminate();
  }
}
