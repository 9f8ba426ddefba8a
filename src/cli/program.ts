import { Command, CommanderError, type Option } from "commander";
import { describeVersion } from "../support/build.ts";
import {
  configFile,
  enableLifecycle,
  exporterUrl,
  externalUrl,
  httpConfigFile,
  LISTEN_ADDRESS,
  listenAddress,
  listenAddresses,
  live,
  logging,
  output,
  raw,
  routePrefix,
  shard,
  telemetryPath,
  webConfigFile,
  yes,
  yesChanged,
  type Flags,
} from "./flags.ts";
import type { ExitCode, Io } from "./io.ts";

const PROGRAM_EXAMPLE = `
The default command is 'run'. '<command> --help' lists the flags of a command.

Example:
  appliance-exporter --config.file=config.yaml --web.listen-address=:10849`;

const DEMO_LISTEN_ADDRESS = "127.0.0.1:10849";

/** A command of the program. */
interface CommandSpec {
  /** With arguments, such as `poll <name>`. */
  readonly name: string;
  readonly description: string;
  readonly flags: readonly Option[];
  readonly example: string;
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
      listenAddress(LISTEN_ADDRESS),
      telemetryPath,
      externalUrl,
      routePrefix,
      webConfigFile,
      enableLifecycle,
      shard,
      ...logging,
    ],
    example: "appliance-exporter run --config.file=/etc/appliance-exporter/config.yaml --log.format=logfmt",
    action: async (flags, io) => (await import("./run.ts")).run(flags, io),
  },
  {
    name: "check",
    description: "check the configuration",
    flags: [configFile("config.yaml"), live, output],
    example: "appliance-exporter check --config.file=config.yaml --live",
    action: async (flags, io) => (await import("./check.ts")).check(flags, io),
  },
  {
    name: "poll <name>",
    description: "poll one appliance now and show the results and samples",
    flags: [configFile("config.yaml"), raw, output],
    example: "appliance-exporter poll waf-ams-1 --config.file=config.yaml --raw",
    action: async (flags, io, args) => (await import("./poll.ts")).poll(flags, io, args),
  },
  {
    name: "trust [names...]",
    description: "show the certificates of appliances and add them to known_certificates_file; default: all",
    flags: [configFile("config.yaml"), yes, yesChanged, output],
    example: "appliance-exporter trust --config.file=config.yaml",
    action: async (flags, io, args) => (await import("./trust.ts")).trust(flags, io, args),
  },
  {
    name: "status",
    description:
      "show the fleet as a running exporter sees it; exit code 0: no problems, 1: problems, 2: unknown",
    flags: [exporterUrl, httpConfigFile, output],
    example: "appliance-exporter status --url=http://exporter.example:10849",
    action: async (flags, io) => (await import("./status.ts")).status(flags, io),
  },
  {
    name: "appliance",
    description: "run the reference appliance, which serves the management API",
    flags: [configFile("appliance.yaml"), ...logging],
    example: "appliance-exporter appliance --config.file=appliance.yaml",
    action: async (flags, io) => (await import("./appliance.ts")).appliance(flags, io),
  },
  {
    name: "demo",
    description: "run the exporter with two appliances, three websites, failovers and outages",
    flags: [listenAddress(DEMO_LISTEN_ADDRESS)],
    example: "appliance-exporter demo --web.listen-address=127.0.0.1:10849",
    action: async (flags, io) =>
      (await import("./demo.ts")).demo({ listenAddresses: listenAddresses(flags, DEMO_LISTEN_ADDRESS) }, io),
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
    .addHelpText("after", PROGRAM_EXAMPLE);
  for (const { name, description, flags, example, isDefault = false, action } of COMMANDS) {
    const command = program
      .command(name, { isDefault })
      .description(description)
      .addHelpText("after", `\nExample:\n  ${example}`);
    for (const flag of flags) command.addOption(flag);
    command.action(async () => {
      exitCode = await action(command.opts<Flags>(), io, command.args);
    });
  }
  const [first = "-"] = argv;
  const isCommand = [...COMMANDS.map(({ name }) => name.split(" ")[0]), "help"].includes(first);
  if (!first.startsWith("-") && !isCommand) {
    io.err(`error: unknown command '${first}'; --help lists them\n`);
    return 2;
  }
  try {
    await program.parseAsync([...argv], { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
}
