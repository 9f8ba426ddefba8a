import { createHash } from "node:crypto";
import { once } from "../support/once.ts";
import { Secret } from "../support/secret.ts";
import type { ApplianceConfig } from "./config.ts";

// Between threads, settings are texts: an instance of Secret would arrive as an empty object, and thousands of objects at once
// would stop the loop. What many appliances share, such as a long list of authorities, is a text of its own, to which theirs
// refer by its digest.

const SHARED: ReadonlySet<string> = new Set(["http", "tls", "ca", "cert"]);

/** The appliances of a configuration as texts with their secrets. */
export interface PackedAppliances {
  readonly digests: readonly string[];
  /** By digest: the texts of the appliances, and of what they share. */
  readonly texts: ReadonlyMap<string, string>;
}

/** Equal for equal settings: secrets and certificates count, a password file by its path. */
export const digestOf = createDigestOf(() => {});

export function packAppliances(appliances: readonly ApplianceConfig[]): PackedAppliances {
  const texts = new Map<string, string>();
  return { digests: appliances.map(createDigestOf((digest, text) => texts.set(digest, text))), texts };
}

function createDigestOf(onText: (digest: string, text: string) => void): (settings: object) => string {
  const ofObject: (settings: object) => string = once(ofPart);
  function ofPart(part: unknown): string {
    const text = JSON.stringify(part, function replace(this: unknown, key: string, value: unknown) {
      // Secrets hide themselves in `value`.
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

/** Returns the appliance of a digest. What appliances share, they share afterwards too. */
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
