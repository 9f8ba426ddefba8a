import { DEFAULT_KIND, KIND_NAMES } from "../exporter/api/kinds.ts";
import { InvalidArgumentError, Option } from "commander";
import { RequiredOption } from "./usage.ts";
import { formatShard, parseShard, WHOLE_FLEET } from "../exporter/config/shard.ts";
import { parseDuration } from "../support/duration.ts";
import { LOG_FORMATS, LOG_LEVELS } from "../support/log.ts";
import { parseListenAddress, type ListenAddress } from "../exporter/web/listen.ts";
import { parseExternalUrl, parseRoutePrefix } from "../exporter/web/paths.ts";
import { MAX_ADMIN_PATH_BYTES } from "../exporter/web/admin-socket.ts";
import { ADMIN_SOCKET, DEFAULT_URL } from "../exporter/command/command.ts";
import type { DrillFlags } from "../operator/drill.ts";
import {
  parseRetentionBytes,
  parseRetentionMs,
  parseStoragePath,
  STORAGE_PATH_FORM,
} from "../history/command/storage.ts";

/** Makes a parser of a flag's value. `what` names the expected form in errors. */
function parser<T>(parse: (text: string) => T | undefined, what: string): (text: string) => T {
  return (text) => {
    const value = parse(text);
    if (value === undefined) throw new InvalidArgumentError(`expected ${what}`);
    return value;
  };
}

const parseAddress = parser(
  parseListenAddress,
  "[host]:port, such as :10849, 127.0.0.1:10849 or [::1]:10849",
);

const parseTelemetryPath = parser(
  // Some paths below /-/ need no password.
  (text) => (/^\/(?!-\/)[^?#\s]*$/.test(text) ? text : undefined),
  "a path that starts with / and not with /-/, such as /metrics",
);

const EXTERNAL_URL_FORM =
  "an http:// or https:// URL without credentials, query and fragment, such as https://exporter.example.org/base";

const ADMIN_PATH_FORM = `a path of at most ${MAX_ADMIN_PATH_BYTES} bytes, such as ${ADMIN_SOCKET}`;

/** An empty path means no socket, so that a later flag can take back that of a unit. */
function parseAdminPath(text: string): string | undefined {
  return Buffer.byteLength(text) <= MAX_ADMIN_PATH_BYTES ? text : undefined;
}

const SHARD_FORM = "INDEX/TOTAL with INDEX from 0 to TOTAL - 1 and TOTAL at most 1000, such as 0/3";

export function configFile(byDefault = "config.yaml"): Option {
  return new Option("--config.file <file>", "configuration file").default(byDefault);
}

const httpConfigFile = new Option("--http.config.file <file>", "file with an http_client block");

const BY_DEFAULT = `or unix:FILE (default: "unix:${ADMIN_SOCKET}" if it is there, else "${DEFAULT_URL}")`;

/** Returns the flags of a command that reads from a running exporter. */
export const reading = () => [
  new Option("--url <url>", `URL of the exporter, with its route prefix, ${BY_DEFAULT}`),
  httpConfigFile,
];

/** Returns a parser of a repeatable flag. */
function collected(parse: (text: string) => string) {
  return (text: string, others: readonly string[] | undefined): readonly string[] => [
    ...(others ?? []),
    parse(text),
  ];
}

export function listenAddress(byDefault: string): Option {
  const initial = [parseAddress(byDefault)];
  return new Option("--web.listen-address <address>", "address to serve on, [host]:port; repeatable")
    .default(initial, byDefault)
    .argParser((text, previous: readonly ListenAddress[]) => [
      ...(previous === initial ? [] : previous),
      parseAddress(text),
    ]);
}

export const logging = () => [
  new Option("--log.level <level>", "lowest severity to log").choices(LOG_LEVELS).default("info"),
  new Option(
    "--log.format <format>",
    "format of the log, on stderr; default: text on a terminal, otherwise json",
  ).choices(LOG_FORMATS),
];

const storage = () => [
  new Option(
    "--storage.path <folder>",
    "folder of the journal, which keeps what happened over restarts",
  ).argParser(parser(parseStoragePath, STORAGE_PATH_FORM)),
  new Option("--storage.retention.time <duration>", "how long the journal keeps a day")
    .default(parseRetentionMs("400d"), "400d")
    .argParser(parser(parseRetentionMs, "a duration, such as 400d, 1y or 2w3d")),
  new Option("--storage.retention.size <size>", "size of the journal, beyond which its oldest days go")
    .default(parseRetentionBytes("1GB"), "1GB")
    .argParser(parser(parseRetentionBytes, "a size in B, KB, MB, GB or TB, such as 512MB")),
];

/** Returns the flags of `run` that concern no configuration and no appliance. */
export const serving = () => [
  listenAddress(":10849"),
  new Option("--web.telemetry-path <path>", "path of the metrics")
    .default("/metrics")
    .argParser(parseTelemetryPath),
  new Option(
    "--web.external-url <url>",
    "URL under which users reach the exporter, for links to it",
  ).argParser(parser(parseExternalUrl, EXTERNAL_URL_FORM)),
  new Option(
    "--web.route-prefix <path>",
    "prefix of all paths; default: the path of --web.external-url",
  ).argParser(parser(parseRoutePrefix, "a path, such as /exporter")),
  new Option("--web.enable-lifecycle", "reload the configuration on POST /-/reload"),
  new Option(
    "--web.enable-maintenance",
    "change planned work on POST /api/v1/maintenance, by users who are known",
  ),
  new Option(
    "--web.admin-socket <file>",
    "Unix socket for commands on this host, which need no password there; for its group",
  ).argParser(parser(parseAdminPath, ADMIN_PATH_FORM)),
  ...storage(),
  ...logging(),
];

/** The flags of both `run` and `check`. */
export const loading = [
  configFile(),
  new Option("--web.config.file <file>", "TLS and authentication of the exporter's own pages"),
  new Option("--shard <index/total>", "poll only this shard of the clusters; the first index is 0")
    .default(WHOLE_FLEET, formatShard(WHOLE_FLEET))
    .argParser(parser(parseShard, SHARD_FORM)),
];

export const output = new Option("--output <format>", "format of the result")
  .choices(["table", "json"])
  .default("table");

/** The flags of `init`; what they lack is in the environment, or the user is asked. */
export const initializing = [
  new Option("--username <name>", "user for the management API (or APPLIANCE_USERNAME in the environment)"),
  new Option(
    "--password-file <file>",
    "file with the password, or - for standard input (or APPLIANCE_PASSWORD in the environment)",
  ),
  new Option(
    "--cluster <name>",
    "name of the cluster; default: what the names of the appliances have in common",
  ),
  new Option("--kind <kind>", "kind of the appliances").choices(KIND_NAMES).default(DEFAULT_KIND),
  new Option("--yes", "trust the certificates without a question"),
];

const MAX_DRILL_MS = 30 * 60_000;

function parseDrillTime(text: string): DrillFlags["for"] | undefined {
  const ms = parseDuration(text);
  return ms !== undefined && ms >= 1000 && ms <= MAX_DRILL_MS ? { text, ms } : undefined;
}

const despite = new Option(
  "--despite <id>",
  "begin although this window is on other members of the cluster; repeatable",
).argParser(collected((text) => text));

export const drilling = [
  ...reading(),
  new Option("--for <duration>", "end of the window, if the drill is not over before; at most 30m")
    .default({ text: "30m", ms: MAX_DRILL_MS }, "30m")
    .argParser(parser(parseDrillTime, "a duration of 1s to 30m, such as 10m")),
  new Option("--comment <text>", "why, for the window and the report; default: who does it"),
  new Option("--command <command>", "command of the shell that lets the appliance fail or hand over"),
  new Option("--both-ways", "also wait until the appliance is MASTER again"),
  new Option("--accept-losses", "begin although losses are predicted"),
  despite,
  new Option("--output <format>", "format of the report").choices(["markdown", "json"]).default("markdown"),
];

export const within = new Option(
  "--within <id>",
  "this window is one's own, so that work in it does not count; repeatable",
).argParser(collected((text) => text));

const keyValues = collected(parser((text) => (/^[^=]+=/.test(text) ? text : undefined), "KEY=VALUE"));

export const reporting = [
  new RequiredOption("--month <month>", "month of the report, such as 2026-10").argParser(
    parser((text) => (/^2\d{3}-(0[1-9]|1[0-2])$/.test(text) ? text : undefined), "a month such as 2026-10"),
  ),
  new Option("--timezone <name>", "time zone of the month and of all times in the report").default("UTC"),
  new Option("--cluster <name>", "cluster of the report; repeatable (default: all)").argParser(
    collected((text) => text),
  ),
  new Option(
    "--label <key=value>",
    "label of the clusters of the report; repeatable: all of them together",
  ).argParser(keyValues),
  new Option("--output <format>", "format of the report").choices(["html", "csv", "json"]).default("html"),
  new RequiredOption(
    "--storage.path <folder>",
    "folder of a journal; repeatable: others fill what the first one does not know",
  ).argParser(collected((text) => text)),
];

/** Returns the flags of an action of planned work, at one exporter or several. */
export const maintaining = (...flags: readonly Option[]) => [
  new Option("--url <url>", `URL of an exporter, with its route prefix, ${BY_DEFAULT}; repeatable`).argParser(
    collected((text) => text),
  ),
  httpConfigFile,
  ...flags,
  output,
];

export function lasting(what: string): Option {
  return new RequiredOption("--for <duration>", what).argParser(
    parser((text) => ((parseDuration(text) ?? 0) > 0 ? text : undefined), "a duration, such as 30m or 1h30m"),
  );
}

export const accepting = new Option("--yes", "change the window of somebody else without a question");

export const starting = [
  lasting("how long from now, at most 24h"),
  new Option("--comment <text>", "what is done, for people; default: who does it"),
  new Option(
    "--label <key=value>",
    "work on all that have this label; repeatable: all of them together",
  ).argParser(keyValues),
  new Option("--id <id>", "id of the window, to start it at one more exporter"),
  despite,
];
