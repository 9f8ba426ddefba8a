import { Option, type Command, type CommanderError } from "commander";
import { listed, meantIn } from "../support/text.ts";

/** A flag without which a command does nothing. All that are missing are reported at once. */
export class RequiredOption extends Option {}

/** What people look for, and the flags that have it. */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ...["port", "listen", "address", "bind", "host"].map((word) => [word, "--web.listen-address"] as const),
  ...["user", "username", "password", "auth", "basic-auth"].map(
    (word) => [word, "--http.config.file"] as const,
  ),
  ...["verbose", "debug", "quiet"].map((word) => [word, "--log.level"] as const),
  ...["duration", "until", "time"].map((word) => [word, "--for"] as const),
  ...["message", "reason"].map((word) => [word, "--comment"] as const),
  ...["json", "format"].map((word) => [word, "--output"] as const),
]);

/** Returns a usage error in one sentence, which names what is missing or what may be meant. */
export function describeUsageError(
  { code, message }: CommanderError,
  command: Command,
  example: string,
): string {
  if (code === "commander.missingArgument") return describeMissing(missingIn(command), command, example);
  if (code === "commander.unknownOption") {
    const [, flag = ""] = /'(-[^'=]*)/.exec(message) ?? [];
    const meant = meantFlag(flag, command);
    return `error: unknown option '${flag}'; ${suggested(meant, `for all flags: ${helpOf(command)}`)}`;
  }
  if (code === "commander.unknownCommand") {
    const [, name = ""] = /'([^']*)'/.exec(message) ?? [];
    return describeUnknownCommand(name, command);
  }
  return code === "commander.excessArguments" ? `${message} See ${helpOf(command)}` : message;
}

export function describeUnknownCommand(name: string, command: Command): string {
  const names = command.commands.map((each) => each.name());
  const all = `the commands are ${listed(names)}: ${helpOf(command)}`;
  return `error: unknown command '${name}'; ${suggested(meantIn(name, names), all)}`;
}

function suggested(meant: string | undefined, otherwise: string): string {
  return meant === undefined
    ? otherwise
    : `did you mean ${meant}? ${otherwise.replace(/^./, (char) => char.toUpperCase())}`;
}

/** Returns the arguments and flags that a command lacks. */
export function missingIn(command: Command): readonly string[] {
  const names = command.registeredArguments.filter(
    ({ required }, nth) => required && command.args[nth] === undefined,
  );
  const flags = command.options.filter(
    (option) =>
      option instanceof RequiredOption && command.getOptionValue(option.attributeName()) === undefined,
  );
  return [...names.map((each) => `<${each.name()}>`), ...flags.map((option) => option.flags)];
}

export function describeMissing(missing: readonly string[], command: Command, example: string): string {
  return `error: ${pathOf(command)} needs ${listed(missing)}, such as: appliance-exporter ${example}`;
}

/** Returns the flag of a command that is meant: one that differs by a typo, has the word in its name, or is named otherwise. */
function meantFlag(flag: string, { options }: Command): string | undefined {
  const flags = options.flatMap(({ long, hidden }) => (long === undefined || hidden ? [] : long));
  const word = flag.replace(/^-+/, "").toLowerCase();
  const synonym = SYNONYMS.get(word) ?? "";
  return (
    meantIn(flag, flags) ??
    flags.find((each) => each === synonym || each === `--${word}`) ??
    flags.find((each) => each.split(/[.-]+/).includes(word))
  );
}

function helpOf(command: Command): string {
  return `${pathOf(command)} --help`;
}

/** Returns `appliance-exporter maintenance start`. */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
