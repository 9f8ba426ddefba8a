import { readFileSync } from "node:fs";

/** The Prometheus configuration for sharding, as docs/scaling.md gives it. */
export function shardingConfig(): string {
  const page = readFileSync(new URL("../../docs/scaling.md", import.meta.url), "utf8");
  const [, config] = /```yaml\n([^]*?)```/.exec(page) ?? [];
  if (config === undefined) throw new Error("docs/scaling.md has no configuration");
  return config;
}
