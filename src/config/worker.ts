import { once } from "node:events";
import { parentPort, workerData } from "node:worker_threads";
import type { ApplianceConfig } from "./config.ts";
import { createPacker, digestOf } from "./hand-over.ts";
import { loadConfig, type ConfigResult } from "./load.ts";
import type { Shard } from "./shard.ts";

/** What the thread is to load. `known`: digests of the appliances that the other side has. */
export interface ConfigTask {
  readonly file: string;
  readonly shard: Shard;
  readonly known: readonly string[];
}

/** An appliance that the other side has, by its place in `known`, or another one. */
export type HandedOver = number | { readonly digest: string; readonly appliance: ApplianceConfig<string> };

/** The result comes last, without the appliances. */
export type ConfigMessage =
  | { readonly appliances: readonly HandedOver[] }
  | { readonly result: ConfigResult };

/** Receiving so many blocks the event loop for about 5 ms. */
const BATCH = 200;

// The entry of a thread, which does one task. It sends the next message when the last one was answered.
const port = parentPort;
if (port !== null) {
  const task: ConfigTask = workerData;
  for await (const message of messagesFor(task)) {
    port.postMessage(message);
    await once(port, "message");
  }
}

async function* messagesFor(task: ConfigTask): AsyncGenerator<ConfigMessage> {
  const result = await loadConfig(task.file, task.shard);
  if (!result.ok) {
    yield { result };
    return;
  }
  const { appliances } = result.config;
  const places = new Map(task.known.map((digest, place) => [digest, place]));
  const pack = createPacker();
  for (let from = 0; from < appliances.length; from += BATCH) {
    const batch = appliances.slice(from, from + BATCH).map((appliance): HandedOver => {
      const digest = digestOf(appliance);
      return places.get(digest) ?? { digest, appliance: pack(appliance) };
    });
    yield { appliances: batch };
  }
  yield { result: { ...result, config: { ...result.config, appliances: [] } } };
}
