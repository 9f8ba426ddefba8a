import { Command, CommanderError } from "commander";
import { APPLIANCE } from "./appliance.ts";
import { CHECK } from "./check.ts";
import { listenAddress, listenAddresses, type CommandSpec, type Flags } from "./flags.ts";
import type { ExitCode, Io } from "./io.ts";
import { POLL } from "./poll.ts";
import { RUN } from "./run.ts";
import { STATUS } from "./status.ts";

const PROGRAM_EXAMPLE = `
The default command is 'run'. '<command> --help' lists the flags of a command.

Example:
  appliance-exporter --config.file=config.yaml --web.listen-address=:10849`;

const DEMO_LISTEN_ADDRESS = "127.0.0.1:10849";

const DEMO: CommandSpec = {
  name: "demo",
  description: "run the exporter with two appliances, three websites, failovers and outages",
  flags: [listenAddress(DEMO_LISTEN_ADDRESS)],
  example: "appliance-exporter demo --web.listen-address=127.0.0.1:10849",
  action: async (flags, io) => {
    // Loaded here, because no other command needs its certificate library.
    const { demo } = await import("./demo.ts");
    return demo({ listenAddresses: listenAddresses(flags, DEMO_LISTEN_ADDRESS) }, io);
  },
};

const COMMANDS: readonly CommandSpec[] = [RUN, CHECK, POLL, STATUS, APPLIANCE, DEMO];

/** Runs the command in `argv` (without program and script); the default is `run`. */
export async function runProgram(argv: readonly string[], io: Io): Promise<ExitCode> {
  let exitCode: ExitCode = 0;
  const program = new Command("appliance-exporter")
    .description("Prometheus exporter for clusters of network appliances")
    .version(io.version)
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
