import { Command, CommanderError, Option } from "commander";
import { describeVersion } from "../support/build.ts";
import { fail, type ExitCode, type Flags, type Io } from "../exporter/command/command.ts";
import type { InitFlags } from "../exporter/command/init-questions.ts";
import type { DrillFlags } from "../operator/drill.ts";
import type { MaintenanceFlags } from "../operator/maintenance.ts";
import {
  accepting,
  configFile,
  drilling,
  initializing,
  lasting,
  listenAddress,
  loading,
  logging,
  maintaining,
  output,
  reading,
  reporting,
  serving,
  starting,
  within,
} from "./options.ts";
import type { ReportFlags } from "../history/command/report.ts";
import type { ReadyFlags } from "../operator/ready.ts";
import type { StatusFlags } from "../operator/status.ts";
import {
  describeFileArgument,
  describeMissing,
  describeUnknownCommand,
  describeUsageError,
  missingIn,
} from "./usage.ts";

/** Runs the command in `argv` (without program and script); the default is `run`. */
export async function runProgram(argv: readonly string[], io: Io): Promise<ExitCode> {
  let exitCode: ExitCode = 0;
  let running: Command | undefined;
  const examples = new Map<Command, string>();
  const program = new Command("appliance-exporter")
    .description("Prometheus exporter for clusters of network appliances")
    .version(describeVersion(io.version, io.build))
    .exitOverride()
    // Errors are written when they are caught, in words of our own.
    .configureOutput({ writeOut: io.out, writeErr: io.err, outputError: () => {} })
    .showSuggestionAfterError(false)
    .hook("preSubcommand", (_, command) => {
      running = command;
    })
    .addHelpText("after", "\n'<command> --help' lists the flags of a command.");

  /** `action` loads the command when it is called, so that `--version` and `--help` load none. */
  function addTo(
    parent: Command,
    name: string,
    description: string,
    example: string,
    flags: readonly Option[],
    action: (flags: Flags, args: readonly string[], command: Command) => Promise<ExitCode>,
    lacks: (command: Command) => readonly string[] = () => [],
  ): void {
    const command = parent
      .command(name, { isDefault: name === "run" })
      .description(description)
      .addHelpText("after", `\nExample:\n  appliance-exporter ${example}`);
    examples.set(command, example);
    for (const flag of flags) command.addOption(flag);
    command.action(async () => {
      const file = describeFileArgument(command.args, command);
      if (file !== undefined) {
        exitCode = fail(io, file, 2);
        return;
      }
      const missing = [...lacks(command), ...missingIn(command)];
      exitCode =
        missing.length > 0
          ? fail(io, describeMissing(missing, command, example), 2)
          : await action(command.opts<Flags>(), command.args, command);
    });
  }
  const add = addTo.bind(undefined, program);

  const interrupted = io.interrupted.then((signalCode) => {
    io.progress("");
    return signalCode;
  });
  /** A signal ends the work at once, and nothing is lost but the results. */
  const untilSignal = (work: Promise<ExitCode>) => Promise.race([work, interrupted]);

  add(
    "init [folder] [urls...]",
    "write a first configuration: ask for what is missing, show the certificates of the appliances, and poll them",
    "init . https://192.0.2.11:4849 https://192.0.2.12:4849",
    initializing,
    async (_flags, args, command) =>
      (await import("../exporter/command/init.ts")).init(command.opts<InitFlags>(), io, args),
  );
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
      new Option("--certificates", "with --live: show all certificates, not only those with a problem"),
      new Option(
        "--syntax-only",
        "read no file that the configuration names, such as passwords and certificates: for a copy elsewhere, and for CI",
      ).conflicts("live"),
      output,
      // With hidden flags, one line of flags serves both commands.
      ...serving().map((option) => option.hideHelp()),
    ],
    async (flags, args) => {
      const { check } = await import("../exporter/command/check.ts");
      const { storageProblem } = await import("../history/command/storage.ts");
      return untilSignal(check(flags, io, args, async () => (await storageProblem(flags))?.message));
    },
  );
  add(
    "poll <name>",
    "poll one appliance now and show the results and samples",
    "poll waf-ams-1 --config.file=config.yaml --raw",
    [
      configFile(),
      new Option("--raw", "show the response bodies"),
      new Option(
        "--record <file>",
        "write the answers to a new file for the report of a fault, without names and addresses",
      ).conflicts(["raw", "output"]),
      new Option("--yes", "write that file without a question"),
      output,
    ],
    async (flags, args) => {
      const { poll } = await import("../exporter/command/poll.ts");
      const { record } = await import("../appliance/command/record.ts");
      return untilSignal(poll(flags, io, args, record));
    },
  );
  add(
    "trust [names...]",
    "show the certificates of appliances or clusters and add them to known_certificates_file; default: all",
    "trust --config.file=config.yaml",
    [configFile(), new Option("--yes", "add new certificates without a question")],
    async (flags, args) => (await import("../exporter/command/trust.ts")).trust(flags, io, args),
  );
  add(
    "status [names...]",
    "show the fleet, or the named clusters, as a running exporter sees it; exit code 0: no problems, 1: problems, 2: unknown",
    "status --url=http://exporter.example:10849",
    [
      ...reading(),
      new Option("--failed", "show only what has a problem"),
      new Option("--all", "show what is well, too"),
      new Option("--output <format>", "format of the result; nagios: output and exit code of a plugin")
        .choices(["table", "json", "nagios"])
        .default("table"),
    ],
    async (_flags, args, command) =>
      untilSignal((await import("../operator/status.ts")).status(command.opts<StatusFlags>(), io, args)),
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
      within,
      output,
    ],
    async (_flags, args, command) =>
      untilSignal((await import("../operator/ready.ts")).ready(command.opts<ReadyFlags>(), io, args)),
  );
  add(
    "drill <name>",
    "rehearse the loss of an appliance in a window of planned work, and write a report; exit code 0: it passed, 1: it failed, 2: it could not begin",
    'drill waf-ams-1 --command="ssh waf-ams-1 reboot" > drill.md',
    drilling,
    async (_flags, [name = ""], command) =>
      (await import("../operator/drill.ts")).drill(command.opts<DrillFlags>(), io, name),
  );
  const work = addTo.bind(
    undefined,
    program
      .command("maintenance")
      .description("planned work at a running exporter, or several")
      .hook("preSubcommand", (_, command) => {
        running = command;
      }),
  );
  work(
    "start [names...]",
    "start a window of planned work on appliances or clusters",
    'maintenance start waf-ams-1 --for=30m --comment="firmware 4.6"',
    maintaining(...starting),
    async (_flags, names, command) =>
      untilSignal(
        (await import("../operator/maintenance.ts")).startWork(command.opts<MaintenanceFlags>(), io, names),
      ),
    (command) =>
      command.args.length === 0 && command.opts<MaintenanceFlags>().label === undefined
        ? ["names of appliances or clusters (or --label)"]
        : [],
  );
  work(
    "list",
    "list current and coming windows",
    "maintenance list --url=http://exporter.example:10849",
    maintaining(),
    async (_flags, _args, command) =>
      untilSignal(
        (await import("../operator/maintenance.ts")).listWork(command.opts<MaintenanceFlags>(), io),
      ),
  );
  work(
    "extend <id>",
    "move the end of a window",
    "maintenance extend 5b1f0c2d9a3e4f67 --for=30m",
    maintaining(lasting("how much longer; the end is within 24h"), accepting),
    async (_flags, [id = ""], command) =>
      untilSignal(
        (await import("../operator/maintenance.ts")).extendWork(command.opts<MaintenanceFlags>(), io, id),
      ),
  );
  work(
    "end <id>",
    "end a window, and show what is still wrong",
    "maintenance end 5b1f0c2d9a3e4f67",
    maintaining(accepting),
    async (_flags, [id = ""], command) =>
      untilSignal(
        (await import("../operator/maintenance.ts")).endWork(command.opts<MaintenanceFlags>(), io, id),
      ),
  );
  add(
    "report",
    "write what was available in a month, from one journal or several",
    "report --month=2026-10 --timezone=Europe/Amsterdam --storage.path=/var/lib/appliance-exporter > report.html",
    reporting,
    async (_flags, _args, command) =>
      untilSignal((await import("../history/command/report.ts")).report(command.opts<ReportFlags>(), io)),
  );
  add(
    "appliance",
    "run the reference appliance, which serves the management API",
    "appliance --config.file=appliance.yaml",
    [configFile("appliance.yaml"), ...logging()],
    async (flags) => (await import("../appliance/command/appliance.ts")).appliance(flags, io),
  );
  add(
    "demo",
    "run the exporter with three appliances, three websites, failovers and outages",
    "demo --web.listen-address=127.0.0.1:10849",
    [listenAddress("127.0.0.1:10849")],
    async (flags) => (await import("./demo/command.ts")).demo(flags, io),
  );

  add(
    "completion <shell>",
    "write what bash or zsh runs to complete commands and flags",
    "completion bash > ~/.local/share/bash-completion/completions/appliance-exporter",
    [],
    async (_flags, [shell = ""]) => (await import("./completion.ts")).completion(program, io, shell),
  );

  const [first = ""] = argv;
  const isKnown = program.commands.some((command) => command.name() === first) || first === "help";
  const byDefault = program.commands.find((command) => command.name() === "run") ?? program;
  if (first !== "" && !first.startsWith("-") && !isKnown)
    return fail(io, describeFileArgument([first], byDefault) ?? describeUnknownCommand(first, program), 2);
  try {
    await program.parseAsync([...argv], { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    // The list of the commands of a group was written.
    if (error.code === "commander.help") return 2;
    const command = running ?? program;
    return fail(io, describeUsageError(error, command, examples.get(command) ?? ""), 2);
  }
}
