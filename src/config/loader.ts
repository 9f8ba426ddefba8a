import { messageOf } from "../support/errors.ts";
import { inSlices } from "../support/slices.ts";
import { runInThread } from "../support/thread.ts";
import type { ApplianceConfig } from "./config.ts";
import { createUnpacker, digestOf } from "./hand-over.ts";
import type { ConfigResult, ValidConfig } from "./load.ts";
import type { ConfigTask, PackedResult } from "./worker.ts";

/**
 * Loads files again as `loadConfig` does, in a thread of its own. An appliance that is configured as in the running
 * configuration is the same object.
 */
export async function loadAgain(task: ConfigTask, running: ValidConfig): Promise<ConfigResult> {
  const result = await runInThread<PackedResult>("config-worker", task).catch(
    (error: unknown): PackedResult => {
      const message = `cannot be loaded: ${messageOf(error)}`;
      // Loaded again when the watch looks again.
      return { ok: false, errors: [{ file: task.file, path: "", message }], sources: running.sources };
    },
  );
  if (!result.ok) return result;
  const { appliances: packed } = result.config;
  const known = new Map<string, ApplianceConfig>();
  await inSlices(running.config.appliances, (appliance) => void known.set(digestOf(appliance), appliance));
  const unpack = createUnpacker(packed);
  const appliances: ApplianceConfig[] = [];
  await inSlices(packed.digests, (digest) => void appliances.push(known.get(digest) ?? unpack(digest)));
  return { ...result, config: { ...result.config, appliances } };
}
