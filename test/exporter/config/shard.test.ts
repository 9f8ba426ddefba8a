import * as fc from "fast-check";
import { expect, test } from "vitest";
import { formatShard, inShard, parseShard, shardOf } from "../../../src/exporter/config/shard.ts";
import { applianceOf, configOf } from "../../support/observations.ts";

test.each([
  ["0/1", { index: 0, total: 1 }],
  ["0/3", { index: 0, total: 3 }],
  ["2/3", { index: 2, total: 3 }],
  ["999/1000", { index: 999, total: 1000 }],
])("%s is a shard", (text, shard) => {
  expect(parseShard(text)).toEqual(shard);
  expect(formatShard(shard)).toBe(text);
});

test.each(["", "1", "0/0", "3/3", "-1/3", "0x0/3", "0/3/3", "0/1001"])("%j is not a shard", (text) => {
  expect(parseShard(text)).toBeUndefined();
});

// Another hash would move clusters between the shards of an old and a new version.
test.each([
  ["ams", 1, 0],
  ["ams", 3, 1],
  ["fra", 3, 0],
  ["lon", 3, 1],
  ["lon", 5, 4],
])("cluster %s of %d shards is in shard %d", (cluster, total, index) => {
  expect(shardOf(cluster, total)).toBe(index);
});

test("every cluster is complete and in exactly one shard", () => {
  const names = fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(names, fc.integer({ min: 1, max: 20 }), (clusters, total) => {
      const appliances = clusters.flatMap((cluster) =>
        ["a", "b"].map((member) => applianceOf({ name: `${cluster}-${member}`, cluster })),
      );
      const config = configOf(...appliances);
      const shards = Array.from(
        { length: total },
        (_, index) => inShard(config, { index, total }).appliances,
      );
      expect(shards.flat()).toHaveLength(appliances.length);
      expect(new Set(shards.flat())).toEqual(new Set(appliances));
      const parts = shards.flatMap((shard) => [...new Set(shard.map(({ cluster }) => cluster))]);
      expect(parts.toSorted()).toEqual(clusters.toSorted());
    }),
  );
});

test("one more shard moves clusters to the new shard only", () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 50 }), (cluster, total) => {
      expect([shardOf(cluster, total), total]).toContain(shardOf(cluster, total + 1));
    }),
  );
});

test.each([2, 3, 5, 10])("%d shards have about the same number of clusters", (total) => {
  const shards = Array.from({ length: 10_000 }, (_, nth) => shardOf(`cluster-${nth}`, total));
  const counts = Array.from({ length: total }, (_, index) => shards.filter((each) => each === index).length);
  const mean = 10_000 / total;
  expect(Math.min(...counts)).toBeGreaterThan(0.85 * mean);
  expect(Math.max(...counts)).toBeLessThan(1.15 * mean);
});
