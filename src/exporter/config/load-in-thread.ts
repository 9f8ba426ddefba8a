import { createHash } from "node:crypto";
import { messageOf } from "../../support/errors.ts";
import { once } from "../../support/kept.ts";
import { Secret } from "../../support/secret.ts";
import { inSlices } from "../../support/slices.ts";
import { runInThread } from "../../support/thread.ts";
import type { ApplianceConfig, Config } from "./config.ts";
import type { ConfigResult, ValidConfig } from "./load.ts";
import type { Loaded } from "./sources.ts";
import type { Shard } from "./shard.ts";

// Between threads, settings are texts: an instance of Secret would arrive as an empty object, and thousands of objects at once would stop
// the loop. Settings that many appliances share, such as a long list of authorities, are texts of their own, to which the appliances' texts
// refer by digest.
const SHARED: ReadonlySet<string> = new Set(["http", "tls", "ca", "cert"]);

export interface ConfigTask {
  readonly file: string;
  readonly shard: Shard;
}

/** A `ConfigResult` whose appliances are texts. */
export type PackedResult = Loaded<{
  readonly config: Omit<Config, "appliances"> & { readonly appliances: PackedAppliances };
  readonly shown: string;
}>;

interface PackedAppliances {
  readonly digests: readonly string[];
  /** The texts of the appliances, with their secrets, and of their shared settings; the key is the digest of the text. */
  readonly texts: ReadonlyMap<string, string>;
}

/**
 * Loads files as `loadConfig` does, in a thread of its own. An appliance that is configured as in the running
 * configuration is the same object.
 */
export async function loadInThread(task: ConfigTask, running: ValidConfig): Promise<ConfigResult> {
  const result = await runInThread<PackedResult>("config-worker", task).catch(
    (error: unknown): PackedResult => {
      const message = `cannot be loaded: ${messageOf(error)}`;
      // The file is loaded again when the watch looks again.
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

/** Returns a digest, which is equal for equal settings. Secrets and certificates count by value, a password file by its path. */
export const digestOf = createDigestOf(() => {});

export function packAppliances(appliances: readonly ApplianceConfig[]): PackedAppliances {
  const texts = new Map<string, string>();
  return { digests: appliances.map(createDigestOf((digest, text) => texts.set(digest, text))), texts };
}

function createDigestOf(onText: (digest: string, text: string) => void): (settings: object) => string {
  const ofObject: (settings: object) => string = once(ofPart);
  function ofPart(part: unknown): string {
    const text = JSON.stringify(part, function replace(this: unknown, key: string, value: unknown) {
      // A secret would hide itself in `value`.
      const given: unknown = Reflect.get(Object(this), key);
      if (given instanceof Secret) return { $secret: given.reveal() };
      if (!SHARED.has(key) || given === undefined) return value;
      return { $shared: given instanceof Object ? ofObject(given) : ofPart(given) };
    });
    const digest = createHash("sha256").update(text).digest("base64");
    onText(digest, text);
    return digest;
  }
  return ofObject;
}

/** Returns the appliance of a digest. Appliances share the same settings as before they were packed. */
export function createUnpacker({ texts }: PackedAppliances): (digest: string) => ApplianceConfig {
  const shared = new Map<string, unknown>();
  function unpack(digest: string): ApplianceConfig {
    return JSON.parse(texts.get(digest) ?? "", (_, value) => {
      if (value?.$secret !== undefined) return new Secret(value.$secret);
      if (value?.$shared === undefined) return value;
      if (!shared.has(value.$shared)) shared.set(value.$shared, unpack(value.$shared));
      return shared.get(value.$shared);
    });
  }
  return unpack;
}
