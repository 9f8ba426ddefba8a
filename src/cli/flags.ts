import type { Shard } from "../config/shard.ts";
import type { LogFormat, LogLevel } from "../support/log.ts";
import type { ListenAddress } from "../web/listen.ts";

/** The values of the flags, by the names that commander gives them. */
export interface Flags {
  readonly "config.file": string;
  readonly "web.listenAddress": readonly ListenAddress[];
  readonly "web.telemetryPath": string;
  readonly "web.routePrefix"?: string;
  readonly "web.enableLifecycle"?: boolean;
  readonly "web.config.file"?: string;
  readonly shard: Shard;
  readonly "log.level": LogLevel;
  readonly "log.format": LogFormat;
  readonly url: string;
  readonly "http.config.file"?: string;
  readonly live?: boolean;
  readonly raw?: boolean;
  readonly yes?: boolean;
  readonly output: "table" | "json";
}
