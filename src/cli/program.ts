import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { formatShard, parseShard, WHOLE_FLEET } from "../config/shard.ts";
import { describeVersion } from "../support/build.ts";
import { LOG_FORMATS, LOG_LEVELS } from "../support/log.ts";
import { parseListenAddress, type ListenAddress } from "../web/listen.ts";
import { isReservedPath, parseRoutePrefix } from "../web/paths.ts";
import type { Flags } from "./flags.ts";
import type { ExitCode, Io } from "./io.ts";

/** A parser of a flag's value; `what` was expected if `parse` returns nothing. */
function parser<T>(parse: (text: string) => T | undefined, what: string): (text: string) => T {
  return (text) => {
    const value = parse(text);
    if (value === undefined) throw new InvalidArgumentError(`expected ${what}`);
    return value;
  };
}

const parseAddress = parser(parseListenAddress, "[host]:port, such as :10849 or 127.0.0.1:10849");

function configFile(byDefault: string): Option {
  return new Option("--config.file <file>", "configuration file").default(byDefault);
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

const telemetryPath = new Option("--web.telemetry-path <path>", "path of the metrics")
  .default("/metrics")
  .argParser(
    parser(
      (text) => (/^\/[^?#\s]*$/.test(text) && !isReservedPath(text) ? text : undefined),
      "a path that starts with / and is not used otherwise, such as /metrics",
    ),
  );

const shard = new Option(
  "--shard <index/total>",
  "poll only this shard of the clusters; the first index is 0",
)
  .default(WHOLE_FLEET, formatShard(WHOLE_FLEET))
  .argParser(
    parser(parseShard, "INDEX/TOTAL with INDEX from 0 to TOTAL - 1 and TOTAL at most 1000, such as 0/3"),
  );

const logging = [
  new Option("--log.level <level>", "lowest severity to log").choices(LOG_LEVELS).default("info"),
  new Option("--log.format <format>", "format of the log, on stderr").choices(LOG_FORMATS).default("json"),
];

const output = new Option("--output <format>", "format of the result")
  .choices(["table", "json"])
  .default("table");

/** A command of the program. */
interface CommandSpec {
  /** With arguments, such as `poll <name>`. */
  readonly name: string;
  readonly description: string;
  readonly flags: readonly Option[];
  readonly isDefault?: true;
  /** Loads the command when it is called, so that `--version` and `--help` load none. */
  readonly action: (flags: Flags, io: Io, args: readonly string[]) => Promise<ExitCode>;
}

const COMMANDS: readonly CommandSpec[] = [
  {
    name: "run",
    isDefault: true,
    description: "poll the appliances and serve their metrics (the default)",
    flags: [
      configFile("config.yaml"),
      listenAddress(":10849"),
      telemetryPath,
      new Option("--web.route-prefix <path>", "prefix of all paths").argParser(
        parser(parseRoutePrefix, "a path, such as /exporter"),
      ),
      new Option("--web.config.file <file>", "TLS and authentication of the exporter's own pages"),
      new Option("--web.enable-lifecycle", "reload the configuration on POST /-/reload"),
      shard,
      ...logging,
    ],
    action: async (flags, io) => (await import("./run.ts")).run(flags, io),
  },
  {
    name: "check",
    description: "check the configuration",
    flags: [
      configFile("config.yaml"),
      new Option(
        "--live",
        "also poll each appliance and test each website once; show certificates, and what to do about failures",
      ),
      output,
    ],
    action: async (flags, io) => (await import("./check.ts")).check(flags, io),
  },
  {
    name: "poll <name>",
    description: "poll one appliance now and show the results and samples",
    flags: [
      configFile("config.yaml"),
      new Option("--raw", "show the response bodies; control characters are escaped on a terminal"),
      output,
    ],
    action: async (flags, io, args) => (await import("./poll.ts")).poll(flags, io, args),
  },
  {
    name: "trust [names...]",
    description: "show the certificates of appliances and add them to known_certificates_file; default: all",
    flags: [configFile("config.yaml"), new Option("--yes", "add new certificates without a question")],
    action: async (flags, io, args) => (await import("./trust.ts")).trust(flags, io, args),
  },
  {
    name: "status",
    description:
      "show the fleet as a running exporter sees it; exit code 0: no problems, 1: problems, 2: unknown",
    flags: [
      new Option("--url <url>", "URL of the exporter, with its route prefix").default(
        "http://localhost:10849",
      ),
      new Option(
        "--http.config.file <file>",
        "file with an http_client block, as in the configuration: credentials and TLS settings for the exporter",
      ),
      output,
    ],
    action: async (flags, io) => (await import("./status.ts")).status(flags, io),
  },
  {
    name: "appliance",
    description: "run the reference appliance, which serves the management API",
    flags: [configFile("appliance.yaml"), ...logging],
    action: async (flags, io) => (await import("./appliance.ts")).appliance(flags, io),
  },
  {
    name: "demo",
    description: "run the exporter with two appliances, three websites, failovers and outages",
    flags: [listenAddress("127.0.0.1:10849")],
    action: async (flags, io) =>
      (await import("./demo.ts")).demo({ listenAddresses: flags["web.listenAddress"] }, io),
  },
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
  for (const { name, description, flags, isDefault = false, action } of COMMANDS) {
    const command = program.command(name, { isDefault }).description(description);
    for (const flag of flags) command.addOption(flag);
    command.action(async () => {
      exitCode = await action(command.opts<Flags>(), io, command.args);
    });
  }
  try {
    await program.parseAsync([...argv], { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
}
