import { createHash } from "node:crypto";
import type { Config } from "./config.ts";

/** One of `total` exporters with the same configuration. Each polls its part of the clusters. */
export interface Shard {
  /** The number of the shard, from 0 to `total - 1`. */
  readonly index: number;
  readonly total: number;
}

export const WHOLE_FLEET: Shard = { index: 0, total: 1 };

const MAX_SHARDS = 1000;

/** Parses `INDEX/TOTAL`, two decimal numbers: INDEX from 0 to TOTAL - 1, TOTAL at most 1,000. Returns `undefined` for any other text. */
export function parseShard(text: string): Shard | undefined {
  const [, index = "", total = ""] = /^(\d{1,4})\/(\d{1,4})$/.exec(text) ?? [];
  const shard = { index: Number(index), total: Number(total) };
  return shard.index < shard.total && shard.total <= MAX_SHARDS ? shard : undefined;
}

export function formatShard({ index, total }: Shard): string {
  return `${index}/${total}`;
}

/**
 * Returns the index of the shard that polls this cluster, by rendezvous hashing: the shard with the highest weight for the name. A change
 * of the total moves only clusters that a new shard takes or a removed shard leaves.
 */
export function shardOf(cluster: string, total: number): number {
  const seed = createHash("sha256").update(cluster).digest().readUInt32BE(0);
  const weights = Array.from({ length: total }, (_, index) => mixed(seed ^ mixed(index + 1)));
  return weights.indexOf(weights.reduce((most, weight) => Math.max(most, weight), 0));
}

/** Applies the finalizer of MurmurHash3. A real hash for each pair of cluster and shard would cost seconds in a large fleet. */
function mixed(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

export function inShard(config: Config, { index, total }: Shard): Config {
  const appliances = config.appliances.filter(({ cluster }) => shardOf(cluster, total) === index);
  return { ...config, appliances };
}
