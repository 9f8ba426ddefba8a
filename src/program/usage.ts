import { Option, type Command, type CommanderError } from "commander";
import { listed, meantIn } from "../support/text.ts";

/** A flag without which a command does nothing. All that are missing are reported at once. */
export class RequiredOption extends Option {}

/** What people look for, and the flags that have it, of which the command may have one. */
const SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map([
  ...each(["port", "listen", "address", "bind", "host"], "--web.listen-address", "--url"),
  ...each(["user", "username"], "--username", "--http.config.file"),
  ...each(["password"], "--password-file", "--http.config.file"),
  ...each(["auth", "basic-auth"], "--http.config.file"),
  ...each(["cmd", "exec"], "--command"),
  ...each(["verbose", "debug", "quiet"], "--log.level"),
  ...each(["duration", "until", "time"], "--for"),
  ...each(["message", "reason"], "--comment"),
  ...each(["json", "format"], "--output"),
]);

/** What is no flag, and how to give it instead. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ["init --url", "write URLs as arguments"],
  ["init --config.file", "name the folder"],
]);

/** What people call commands. */
const COMMAND_SYNONYMS: ReadonlyMap<string, string> = new Map([
  ["version", "--version"],
  ["stop", "end"],
]);

function each(words: readonly string[], ...flags: readonly string[]) {
  return words.map((word) => [word, flags] as const);
}

/** Returns a usage error in one sentence, which names what is missing or what may be meant. */
export function describeUsageError(
  { code, message }: CommanderError,
  command: Command,
  example: string,
): string {
  if (code === "commander.missingArgument") return describeMissing(missingIn(command), command, example);
  if (code === "commander.unknownOption") {
    const [, flag = ""] = /'(-[^'=]*)/.exec(message) ?? [];
    const instead = INSTEAD.get(`${command.name()} ${flag}`);
    if (instead !== undefined) return `error: unknown option '${flag}'; ${instead}: ${helpOf(command)}`;
    const meant = meantFlag(flag, command);
    return `error: unknown option '${flag}'; ${suggested(meant, `for all flags: ${helpOf(command)}`)}`;
  }
  if (code === "commander.unknownCommand") {
    const [, name = ""] = /'([^']*)'/.exec(message) ?? [];
    return describeUnknownCommand(name, command);
  }
  if (code === "commander.excessArguments")
    return describeFileArgument(command.args, command) ?? `${message} See ${helpOf(command)}`;
  return message;
}

/** Returns what to write in place of a configuration as an argument; `undefined` if none is one. */
export function describeFileArgument(args: readonly string[], command: Command): string | undefined {
  const hasFlag = command.options.some(({ long }) => long === "--config.file");
  // Beside the flag, it is the name of an appliance.
  const isGiven = command.getOptionValueSource("config.file") === "cli";
  const file = hasFlag && !isGiven ? args.find((arg) => /\.ya?ml$/i.test(arg)) : undefined;
  return file === undefined ? undefined : `error: write --config.file=${file}`;
}

export function describeUnknownCommand(name: string, command: Command): string {
  const names = command.commands.map((one) => one.name());
  const all = `the commands are ${listed(names)}: ${helpOf(command)}`;
  const synonym = COMMAND_SYNONYMS.get(name) ?? "";
  const known = [...names, ...command.options.map(({ long }) => long)].find((one) => one === synonym);
  return `error: unknown command '${name}'; ${suggested(meantIn(name, names) ?? known, all)}`;
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
  return [...names.map((one) => `<${one.name()}>`), ...flags.map((option) => option.flags)];
}

export function describeMissing(missing: readonly string[], command: Command, example: string): string {
  return `error: ${pathOf(command)} needs ${listed(missing)}, such as: appliance-exporter ${example}`;
}

/** Returns the flag of a command that is meant: one that differs by a typo, has the word in its name, or is named otherwise. */
function meantFlag(flag: string, { options }: Command): string | undefined {
  const flags = options.flatMap(({ long, hidden }) => (long === undefined || hidden ? [] : long));
  const word = flag.replace(/^-+/, "").toLowerCase();
  const words = [word, word.replace(/^.*\./, "")];
  const synonyms = words.flatMap((one) => [`--${one}`, ...(SYNONYMS.get(one) ?? [])]);
  return (
    meantIn(flag, flags) ??
    synonyms.find((one) => flags.includes(one)) ??
    flags.find((one) => one.split(/[.-]+/).includes(word))
  );
}

function helpOf(command: Command): string {
  return `${pathOf(command)} --help`;
}

/** Returns `appliance-exporter maintenance start`. */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
