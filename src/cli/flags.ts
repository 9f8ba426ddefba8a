import { InvalidArgumentError, Option, type Command } from "commander";
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from "../support/log.ts";
import { formatShard, parseShard, WHOLE_FLEET, type Shard } from "../config/shard.ts";
import { isReservedPath, parseRoutePrefix } from "../web/paths.ts";
import { parseListenAddress, type ListenAddress } from "../web/listen.ts";

/** The values of the flags, by the names that commander gives them. */
export interface Flags {
  readonly "config.file": string;
  readonly "web.listenAddress"?: readonly ListenAddress[];
  readonly "web.telemetryPath": string;
  readonly "web.externalUrl"?: string;
  readonly "web.routePrefix"?: string;
  readonly "web.enableLifecycle"?: true;
  readonly "web.config.file"?: string;
  readonly shard: Shard;
  readonly "log.level": LogLevel;
  readonly "log.format": LogFormat;
  readonly url: string;
  readonly "http.config.file"?: string;
  readonly live?: true;
  readonly raw?: true;
  readonly output: "table" | "json";
}

/** Adds a flag to a command. Flags are spelled as in Prometheus's exporters. */
export type AddFlag = (command: Command) => Command;

export const configFile =
  (byDefault: string): AddFlag =>
  (command) =>
    command.option("--config.file <file>", "configuration file", byDefault);

export const listenAddress =
  (byDefault: string): AddFlag =>
  (command) =>
    command.option(
      "--web.listen-address <address>",
      `address to serve on, [host]:port; repeatable (default: ${byDefault})`,
      (text: string, previous: readonly ListenAddress[] | undefined) => [
        ...(previous ?? []),
        toListenAddress(text),
      ],
    );

export const telemetryPath: AddFlag = (command) =>
  command.option("--web.telemetry-path <path>", "path of the metrics", toTelemetryPath, "/metrics");

export const externalUrl: AddFlag = (command) =>
  command.option(
    "--web.external-url <url>",
    "URL of the exporter, such as behind a reverse proxy; its path is the default of --web.route-prefix",
    toExternalPath,
  );

export const routePrefix: AddFlag = (command) =>
  command.option(
    "--web.route-prefix <path>",
    "prefix of all paths (default: the path of --web.external-url)",
    toRoutePrefix,
  );

export const enableLifecycle: AddFlag = (command) =>
  command.option("--web.enable-lifecycle", "reload the configuration on POST /-/reload");
export const webConfigFile: AddFlag = (command) =>
  command.option("--web.config.file <file>", "TLS and authentication of the exporter's own pages");
export const shard: AddFlag = (command) =>
  command.addOption(
    new Option("--shard <index/total>", "poll only this shard of the clusters; the first index is 0")
      .argParser(toShard)
      .default(WHOLE_FLEET, formatShard(WHOLE_FLEET)),
  );

export const logging: AddFlag = (command) =>
  command
    .addOption(
      new Option("--log.level <level>", "lowest severity to log").choices(LOG_LEVELS).default("info"),
    )
    .addOption(
      new Option("--log.format <format>", "format of the log, on stderr")
        .choices(LOG_FORMATS)
        .default("json"),
    );

export const exporterUrl: AddFlag = (command) =>
  command.option("--url <url>", "URL of the exporter, with its route prefix", "http://localhost:10849");

export const httpConfigFile: AddFlag = (command) =>
  command.option(
    "--http.config.file <file>",
    "file with an http_client block, as in the configuration: credentials and TLS settings for the exporter",
  );

export const output: AddFlag = (command) =>
  command.addOption(
    new Option("--output <format>", "format of the result").choices(["table", "json"]).default("table"),
  );

function toExternalPath(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") {
    throw new InvalidArgumentError("expected an http:// or https:// URL without query and fragment");
  }
  return toRoutePrefix(url.pathname);
}

function toRoutePrefix(text: string): string {
  const prefix = parseRoutePrefix(text);
  if (prefix === undefined) throw new InvalidArgumentError("expected a path, such as /exporter");
  return prefix;
}

function toShard(text: string): Shard {
  const parsed = parseShard(text);
  if (parsed === undefined)
    throw new InvalidArgumentError(
      "expected INDEX/TOTAL with INDEX from 0 to TOTAL - 1 and TOTAL at most 1000, such as 0/3",
    );
  return parsed;
}

/** The given addresses, or the default one. */
export function listenAddresses(flags: Flags, byDefault: string): readonly ListenAddress[] {
  return flags["web.listenAddress"] ?? [toListenAddress(byDefault)];
}

function toListenAddress(text: string): ListenAddress {
  const address = parseListenAddress(text);
  if (address === undefined)
    throw new InvalidArgumentError("expected [host]:port, such as :10849 or 127.0.0.1:10849");
  return address;
}

function toTelemetryPath(text: string): string {
  if (!/^\/[^?#\s]*$/.test(text) || isReservedPath(text)) {
    throw new InvalidArgumentError(
      "expected a path that starts with / and is not used otherwise, such as /metrics",
    );
  }
  return text;
}
