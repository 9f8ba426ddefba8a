import { InvalidArgumentError, Option } from "commander";
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
  readonly yesChanged?: boolean;
  readonly output: "table" | "json";
}

/** Where the exporter listens by default. */
export const LISTEN_ADDRESS = ":10849";

export function configFile(byDefault: string): Option {
  return new Option("--config.file <file>", "configuration file").default(byDefault);
}

export function listenAddress(byDefault: string): Option {
  return new Option(
    "--web.listen-address <address>",
    `address to serve on, [host]:port; repeatable (default: ${byDefault})`,
  ).argParser((text, previous: readonly ListenAddress[] | undefined) => [
    ...(previous ?? []),
    parseAddress(text),
  ]);
}

/** The given addresses, or the default one. */
export function listenAddresses(flags: Flags, byDefault: string): readonly ListenAddress[] {
  return flags["web.listenAddress"] ?? [parseAddress(byDefault)];
}

const parseAddress = parser(parseListenAddress, "[host]:port, such as :10849 or 127.0.0.1:10849");

export const telemetryPath = new Option("--web.telemetry-path <path>", "path of the metrics")
  .default("/metrics")
  .argParser(
    parser(
      (text) => (/^\/[^?#\s]*$/.test(text) && !isReservedPath(text) ? text : undefined),
      "a path that starts with / and is not used otherwise, such as /metrics",
    ),
  );

const parsePrefix = parser(parseRoutePrefix, "a path, such as /exporter");

export const externalUrl = new Option(
  "--web.external-url <url>",
  "URL of the exporter, such as behind a reverse proxy; its path is the default of --web.route-prefix",
).argParser((text) => parsePrefix(parseExternalUrl(text).pathname));

const parseExternalUrl = parser((text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return /^https?:$/.test(url?.protocol ?? "") && url?.search === "" && url.hash === "" ? url : undefined;
}, "an http:// or https:// URL without query and fragment");

export const routePrefix = new Option(
  "--web.route-prefix <path>",
  "prefix of all paths (default: the path of --web.external-url)",
).argParser(parsePrefix);

export const enableLifecycle = new Option(
  "--web.enable-lifecycle",
  "reload the configuration on POST /-/reload",
);

export const webConfigFile = new Option(
  "--web.config.file <file>",
  "TLS and authentication of the exporter's own pages",
);

export const shard = new Option(
  "--shard <index/total>",
  "poll only this shard of the clusters; the first index is 0",
)
  .default(WHOLE_FLEET, formatShard(WHOLE_FLEET))
  .argParser(
    parser(parseShard, "INDEX/TOTAL with INDEX from 0 to TOTAL - 1 and TOTAL at most 1000, such as 0/3"),
  );

export const logging: readonly Option[] = [
  new Option("--log.level <level>", "lowest severity to log").choices(LOG_LEVELS).default("info"),
  new Option("--log.format <format>", "format of the log, on stderr").choices(LOG_FORMATS).default("json"),
];

export const exporterUrl = new Option("--url <url>", "URL of the exporter, with its route prefix").default(
  "http://localhost:10849",
);

export const httpConfigFile = new Option(
  "--http.config.file <file>",
  "file with an http_client block, as in the configuration: credentials and TLS settings for the exporter",
);

export const live = new Option(
  "--live",
  "also poll each appliance and test each website once; show certificates, and what to do about failures",
);

export const yes = new Option("--yes", "add new certificates without a question");

export const yesChanged = new Option(
  "--yes-changed",
  "replace certificates that have changed without a question",
);

export const raw = new Option(
  "--raw",
  "show the response bodies; control characters are escaped on a terminal",
);

export const output = new Option("--output <format>", "format of the result")
  .choices(["table", "json"])
  .default("table");

/** A parser of a flag's value; `what` was expected if `parse` returns nothing. */
function parser<T>(parse: (text: string) => T | undefined, what: string): (text: string) => T {
  return (text) => {
    const value = parse(text);
    if (value === undefined) throw new InvalidArgumentError(`expected ${what}`);
    return value;
  };
}
