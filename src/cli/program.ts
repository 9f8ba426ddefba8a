import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { formatShard, parseShard, WHOLE_FLEET } from "../config/shard.ts";
import { describeVersion } from "../support/build.ts";
import { parseDuration } from "../support/duration.ts";
import { LOG_FORMATS, LOG_LEVELS } from "../support/log.ts";
import { parseListenAddress, type ListenAddress } from "../web/listen.ts";
import { parseRoutePrefix } from "../web/paths.ts";
import { parseRetentionBytes, parseRetentionMs, parseStoragePath, STORAGE_PATH_FORM } from "./storage.ts";
import { DEFAULT_URL, fail, type ExitCode, type Flags, type Io } from "./command.ts";
import type { DrillFlags } from "./drill.ts";
import type { MaintenanceFlags } from "./maintenance.ts";
import type { ReportFlags } from "./report.ts";

/** A parser of a flag's value; `what` was expected if `parse` returns nothing. */
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

const SHARD_FORM = "INDEX/TOTAL with INDEX from 0 to TOTAL - 1 and TOTAL at most 1000, such as 0/3";

function configFile(byDefault = "config.yaml"): Option {
  return new Option("--config.file <file>", "configuration file").default(byDefault);
}

const httpConfigFile = new Option("--http.config.file <file>", "file with an http_client block");

/** The flags of a command that reads from a running exporter. */
const reading = () => [
  new Option("--url <url>", "URL of the exporter, with its route prefix").default(DEFAULT_URL),
  httpConfigFile,
];

/** A parser of a repeatable flag. */
function collected(parse: (text: string) => string) {
  return (text: string, others: readonly string[] | undefined): readonly string[] => [
    ...(others ?? []),
    parse(text),
  ];
}

function listenAddress(byDefault: string): Option {
  const initial = [parseAddress(byDefault)];
  return new Option("--web.listen-address <address>", "address to serve on, [host]:port; repeatable")
    .default(initial, byDefault)
    .argParser((text, previous: readonly ListenAddress[]) => [
      ...(previous === initial ? [] : previous),
      parseAddress(text),
    ]);
}

const logging = () => [
  new Option("--log.level <level>", "lowest severity to log").choices(LOG_LEVELS).default("info"),
  new Option("--log.format <format>", "format of the log, on stderr").choices(LOG_FORMATS).default("json"),
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

/** The flags of `run` that concern no configuration and no appliance. */
const serving = () => [
  listenAddress(":10849"),
  new Option("--web.telemetry-path <path>", "path of the metrics")
    .default("/metrics")
    .argParser(parseTelemetryPath),
  new Option("--web.route-prefix <path>", "prefix of all paths").argParser(
    parser(parseRoutePrefix, "a path, such as /exporter"),
  ),
  new Option("--web.enable-lifecycle", "reload the configuration on POST /-/reload"),
  new Option(
    "--web.enable-maintenance",
    "change planned work on POST /api/v1/maintenance, by users who are known",
  ),
  ...storage(),
  ...logging(),
];

/** The flags that `run` and `check` have in common. */
const loading = [
  configFile(),
  new Option("--web.config.file <file>", "TLS and authentication of the exporter's own pages"),
  new Option("--shard <index/total>", "poll only this shard of the clusters; the first index is 0")
    .default(WHOLE_FLEET, formatShard(WHOLE_FLEET))
    .argParser(parser(parseShard, SHARD_FORM)),
];

const output = new Option("--output <format>", "format of the result")
  .choices(["table", "json"])
  .default("table");

const MAX_DRILL_MS = 30 * 60_000;

function parseDrillTime(text: string): DrillFlags["for"] | undefined {
  const ms = parseDuration(text);
  return ms !== undefined && ms >= 1000 && ms <= MAX_DRILL_MS ? { text, ms } : undefined;
}

const reporting = [
  new Option("--month <month>", "month of the report, such as 2026-10")
    .makeOptionMandatory()
    .argParser(
      parser((text) => (/^2\d{3}-(0[1-9]|1[0-2])$/.test(text) ? text : undefined), "a month such as 2026-10"),
    ),
  new Option("--timezone <name>", "time zone of the month and of all times in the report").default("UTC"),
  new Option("--output <format>", "format of the report").choices(["html", "csv", "json"]).default("html"),
  new Option(
    "--storage.path <folder>",
    "folder of a journal; repeatable: others fill what the first one does not know",
  )
    .makeOptionMandatory()
    .argParser(collected((text) => text)),
];

const maintaining = [
  new Option(
    "--url <url>",
    `URL of an exporter, with its route prefix; repeatable (default: "${DEFAULT_URL}")`,
  ).argParser(collected((text) => text)),
  httpConfigFile,
  new Option("--for <duration>", "how long from now, or how much longer; the end is within 24h").argParser(
    parser((text) => ((parseDuration(text) ?? 0) > 0 ? text : undefined), "a duration, such as 30m or 1h30m"),
  ),
  new Option("--comment <text>", "what is done, for people"),
  new Option(
    "--label <key=value>",
    "work on all that have this label; repeatable: all of them together",
  ).argParser(collected(parser((text) => (/^[^=]+=/.test(text) ? text : undefined), "KEY=VALUE"))),
  new Option("--id <id>", "id of a window that starts, to start it at one more exporter"),
  output,
];

/** Runs the command in `argv` (without program and script); the default is `run`. */
export async function runProgram(argv: readonly string[], io: Io): Promise<ExitCode> {
  let exitCode: ExitCode = 0;
  const program = new Command("appliance-exporter")
    .description("Prometheus exporter for clusters of network appliances")
    .version(describeVersion(io.version, io.build))
    .exitOverride()
    .configureOutput({ writeOut: io.out, writeErr: io.err })
    .addHelpText("after", "\n'<command> --help' lists the flags of a command.");

  /** `action` loads the command when it is called, so that `--version` and `--help` load none. */
  function add(
    name: string,
    description: string,
    example: string,
    flags: readonly Option[],
    action: (flags: Flags, args: readonly string[], command: Command) => Promise<ExitCode>,
  ): void {
    const command = program
      .command(name, { isDefault: name === "run" })
      .description(description)
      .addHelpText("after", `\nExample:\n  appliance-exporter ${example}`);
    for (const flag of flags) command.addOption(flag);
    command.action(async () => {
      exitCode = await action(command.opts<Flags>(), command.args, command);
    });
  }

  const interrupted = io.interrupted.then((signalCode) => {
    io.progress("");
    return signalCode;
  });
  /** A signal ends the work at once: nothing is lost but its results. */
  const untilSignal = (work: Promise<ExitCode>) => Promise.race([work, interrupted]);

  add(
    "run",
    "poll the appliances and serve their metrics (the default)",
    "run --config.file=/etc/appliance-exporter/config.yaml --log.format=logfmt",
    [...loading, ...serving()],
    async (flags) => (await import("./run.ts")).run(flags, io),
  );
  add(
    "check [names...]",
    "check the configuration; with --live, poll the named appliances and clusters, or all",
    "check --config.file=config.yaml --live",
    [
      ...loading,
      new Option("--live", "also poll each appliance, test each website, and say what to do about failures"),
      new Option("--failed", "with --live: show only what fails"),
      output,
      // So that one line of flags serves both commands.
      ...serving().map((option) => option.hideHelp()),
    ],
    async (flags, args) => untilSignal((await import("./check.ts")).check(flags, io, args)),
  );
  add(
    "poll <name>",
    "poll one appliance now and show the results and samples",
    "poll waf-ams-1 --config.file=config.yaml --raw",
    [configFile(), new Option("--raw", "show the response bodies"), output],
    async (flags, args) => untilSignal((await import("./poll.ts")).poll(flags, io, args)),
  );
  add(
    "trust [names...]",
    "show the certificates of appliances or clusters and add them to known_certificates_file; default: all",
    "trust --config.file=config.yaml",
    [configFile(), new Option("--yes", "add new certificates without a question")],
    async (flags, args) => (await import("./trust.ts")).trust(flags, io, args),
  );
  add(
    "status [names...]",
    "show the fleet, or the named clusters, as a running exporter sees it; exit code 0: no problems, 1: problems, 2: unknown",
    "status --url=http://exporter.example:10849",
    [...reading(), new Option("--failed", "show only what has a problem"), output],
    async (flags, args) => untilSignal((await import("./status.ts")).status(flags, io, args)),
  );
  add(
    "ready [names...]",
    "show what would be lost if the named appliances, or the masters of the named clusters, stopped now; default: all clusters; " +
      "exit code 0: nothing, 1: something, 2: not known",
    "ready waf-ams-1 && ssh waf-ams-1 reboot",
    [
      ...reading(),
      new Option(
        "--config.file <file>",
        "poll the clusters of this configuration once, without an exporter",
      ).conflicts(["url", "http.config.file"]),
      output,
    ],
    async (flags, args) => untilSignal((await import("./ready.ts")).ready(flags, io, args)),
  );
  add(
    "drill <name>",
    "rehearse the loss of an appliance in a window of planned work, and write a report; exit code 0: it passed, 1: it failed, 2: it could not begin",
    'drill waf-ams-1 --command="ssh waf-ams-1 reboot" > drill.md',
    [
      ...reading(),
      new Option("--for <duration>", "end of the window, if the drill is not over before; at most 30m")
        .default({ text: "30m", ms: MAX_DRILL_MS }, "30m")
        .argParser(parser(parseDrillTime, "a duration of 1s to 30m, such as 10m")),
      new Option("--comment <text>", "why, for the window and the report"),
      new Option("--command <command>", "command of the shell that lets the appliance fail or hand over"),
      new Option("--both-ways", "also wait until the appliance is MASTER again"),
      new Option("--accept-losses", "begin although losses are predicted"),
      new Option("--output <format>", "format of the report")
        .choices(["markdown", "json"])
        .default("markdown"),
    ],
    async (_flags, [name = ""], command) =>
      (await import("./drill.ts")).drill(command.opts<DrillFlags>(), io, name),
  );
  add(
    "maintenance <action> [arguments...]",
    "planned work at a running exporter, or several: start NAME... (of appliances or clusters), list, extend ID, end ID",
    'maintenance start waf-ams-1 --for=30m --comment="firmware 4.6"',
    maintaining,
    async (_flags, args, command) =>
      untilSignal((await import("./maintenance.ts")).maintenance(command.opts<MaintenanceFlags>(), io, args)),
  );
  add(
    "report",
    "write what was available in a month, from one journal or several",
    "report --month=2026-10 --timezone=Europe/Amsterdam --storage.path=/var/lib/appliance-exporter > report.html",
    reporting,
    async (_flags, _args, command) =>
      untilSignal((await import("./report.ts")).report(command.opts<ReportFlags>(), io)),
  );
  add(
    "appliance",
    "run the reference appliance, which serves the management API",
    "appliance --config.file=appliance.yaml",
    [configFile("appliance.yaml"), ...logging()],
    async (flags) => (await import("./appliance.ts")).appliance(flags, io),
  );
  add(
    "demo",
    "run the exporter with three appliances, three websites, failovers and outages",
    "demo --web.listen-address=127.0.0.1:10849",
    [listenAddress("127.0.0.1:10849")],
    async (flags) => (await import("./demo.ts")).demo(flags, io),
  );

  const [first = ""] = argv;
  const isKnown = program.commands.some((command) => command.name() === first) || first === "help";
  if (first !== "" && !first.startsWith("-") && !isKnown)
    return fail(io, `error: unknown command '${first}'; --help lists the commands`, 2);
  try {
    await program.parseAsync([...argv], { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
}
