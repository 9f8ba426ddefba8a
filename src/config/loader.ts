import { randomBytes } from "node:crypto";
import { on } from "node:events";
import { Worker } from "node:worker_threads";
import type { ApplianceConfig, ConfigResult, WrittenConfig } from "./config.ts";
import { conceal, digestOf } from "./hand-over.ts";
import { inShard, type Shard } from "./shard.ts";
import type { ConfigMessage, ConfigTask } from "./worker.ts";

/** The built file, seen from the source and from the built program alike. */
const WORKER = new URL("../../dist/config-worker.js", import.meta.url);

/** Loads a configuration without delaying polls. */
export interface ConfigLoader {
  /**
   * Loads the files of the shard's appliances as `loadConfig` does: the first time in this thread, which polls nothing yet,
   * then in one of its own. An appliance that is as at the load before is the same object. Rejects if the thread fails.
   */
  load(): Promise<ConfigResult>;
  /** A loaded configuration as YAML, without its secrets. */
  render(written: WrittenConfig): Promise<string>;
}

export function createConfigLoader(file: string, shard: Shard): ConfigLoader {
  /** Random, so that fingerprints cannot be compared with guessed passwords; the same for all loads. */
  const key = randomBytes(32);
  /** The appliances of the latest load, by digest. */
  let known: ReadonlyMap<string, ApplianceConfig> | undefined;

  async function loadHere(): Promise<ConfigResult> {
    // Only here: afterwards this thread needs no YAML library, and a thread more would cost each start 60 ms.
    const { loadConfig } = await import("./load.ts");
    const result = await loadConfig(file, key);
    if (!result.ok) return result;
    const config = inShard(result.config, shard);
    known = new Map(config.appliances.map((appliance) => [digestOf(appliance), appliance]));
    return { ...result, config };
  }

  async function loadInThread(before: ReadonlyMap<string, ApplianceConfig>): Promise<ConfigResult> {
    const entries = [...before];
    const next = new Map<string, ApplianceConfig>();
    const digests = [...before.keys()];
    for await (const message of messagesOf({ kind: "load", file, shard, key, known: digests })) {
      if (message.kind === "appliances") {
        for (const each of message.appliances) {
          const entry =
            typeof each === "number" ? entries[each] : ([each.digest, conceal(each.appliance)] as const);
          if (entry !== undefined) next.set(...entry);
        }
      } else if (message.kind === "loaded") {
        const { result } = message;
        if (!result.ok) return result;
        known = next;
        return { ...result, config: { ...result.config, appliances: [...next.values()] } };
      }
    }
    throw new Error(ENDED);
  }

  return {
    load: () => (known === undefined ? loadHere() : loadInThread(known)),
    render: async (written) => {
      for await (const message of messagesOf({ kind: "render", written }))
        if (message.kind === "rendered") return message.text;
      throw new Error(ENDED);
    },
  };
}

const ENDED = "the thread that reads the configuration has ended";

async function* messagesOf(task: ConfigTask): AsyncGenerator<ConfigMessage> {
  const worker = new Worker(WORKER, { workerData: task });
  try {
    for await (const [message] of on(worker, "message", { close: ["exit"] })) {
      yield message;
      worker.postMessage("next");
    }
  } finally {
    await worker.terminate();
  }
}
