import type { Command, Option } from "commander";
import { fail, type ExitCode, type Io } from "../exporter/command/command.ts";

/** Writes the script that a shell runs to complete commands and flags, from the definitions of the program. */
export function completion(program: Command, io: Io, shell: string): ExitCode {
  const write = SHELLS.get(shell);
  if (write === undefined) return fail(io, `error: expected ${[...SHELLS.keys()].join(" or ")}`, 2);
  io.out(write(program));
  return 0;
}

const SHELLS: ReadonlyMap<string, (program: Command) => string> = new Map([
  ["bash", bashCompletion],
  ["zsh", zshCompletion],
]);

interface Flag {
  /** The name of the flag: `--url`. */
  readonly name: string;
  readonly description: string;
  readonly takes: "nothing" | "text" | "file" | "folder" | readonly string[];
}

/** A command or a group of commands. */
interface Completed {
  /** The words before the flags: `maintenance start`; empty for the program. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly flags: readonly Flag[];
}

const HELP: Flag = { name: "--help", description: "display help for command", takes: "nothing" };

function completedIn(command: Command, parents: readonly string[] = []): readonly Completed[] {
  const { commands, options } = command;
  const named = commands.map((each) => ({ name: each.name(), description: each.description() }));
  const flags = [...options.filter(({ hidden }) => !hidden).map(flagOf), HELP];
  const children = commands.flatMap((each) => completedIn(each, [...parents, each.name()]));
  return [{ path: parents.join(" "), commands: named, flags }, ...children];
}

function flagOf({ long, flags, description, argChoices }: Option): Flag {
  return { name: long ?? flags, description, takes: argChoices ?? takenBy(flags) };
}

function takenBy(flags: string): Flag["takes"] {
  const [, value] = /<(.+)>$/.exec(flags) ?? [];
  if (value === undefined) return "nothing";
  return value === "file" || value === "folder" ? value : "text";
}

/**
 * Returns shell code, for either shell, that finds the command of a line. `words` are the words after the program. Flags without a command
 * are those of `run`.
 */
function commandIn(all: readonly Completed[], words: string): string {
  return `  local command= word known='|${all.map(({ path }) => path).join("|")}|'
  for word in "${words}"; do
    [[ $known != *"|\${command:+$command }$word|"* ]] || command="\${command:+$command }$word"
  done
  [[ -n $command || $current != -* ]] || command=run
`;
}

/** Returns the script for bash. bash splits words at `=`. */
function bashCompletion(program: Command): string {
  const name = program.name();
  const all = completedIn(program);
  const words = all.map(({ path, commands, flags }) => {
    const offered = commands.length === 0 ? flags.map(bashFlag) : commands.map((each) => each.name);
    return `    '${path}') words='${offered.join(" ")}' ;;\n`;
  });
  const values = all.flatMap(({ path, flags }) => flags.flatMap((flag) => bashValue(path, flag)));
  return `# bash completion for ${name}

_appliance_exporter() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} flag= words=
  if [[ $current == = ]]; then
    flag=$before current=
  elif [[ $before == = ]]; then
    flag=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
${commandIn(all, "${COMP_WORDS[@]:1:COMP_CWORD - 1}")}  [[ -z $flag ]] || command="\${command:-run} $flag"
  case $command in
${words.join("")}${values.join("")}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ \${COMPREPLY[0]-} != *= ]] || compopt -o nospace
}

complete -F _appliance_exporter ${name}
`;
}

function bashFlag({ name, takes }: Flag): string {
  return takes === "nothing" ? name : `${name}=`;
}

function bashValue(path: string, { name, takes }: Flag): readonly string[] {
  if (takes === "nothing" || takes === "text") return [];
  const pattern = `    '${path} ${name}')`;
  if (typeof takes !== "string") return [`${pattern} words='${takes.join(" ")}' ;;\n`];
  const names = `mapfile -t COMPREPLY < <(compgen ${takes === "file" ? "-f" : "-d"} -- "$current")`;
  return [`${pattern} compopt -o filenames; ${names}; return ;;\n`];
}

function zshCompletion(program: Command): string {
  const all = completedIn(program);
  const cases = all.map(({ path, commands, flags }) => {
    const named = commands.map(({ name, description }) => `'${name}:${quoted(description)}'`);
    const act =
      commands.length === 0
        ? `_arguments ${flags.map(zshFlag).join(" ")} '*:name:'`
        : `named=(${named.join(" ")}); _describe command named`;
    return `    '${path}') ${act} ;;\n`;
  });
  return `#compdef ${program.name()}

_appliance_exporter() {
  local -a named
  local current=$words[CURRENT]
${commandIn(all, "${(@)words[2,CURRENT-1]}")}  case $command in
${cases.join("")}  esac
}

_appliance_exporter "$@"
`;
}

function zshFlag({ name, description, takes }: Flag): string {
  const words = `[${quoted(description).replaceAll(/[[\]]/g, "\\$&")}]`;
  if (takes === "nothing") return `'${name}${words}'`;
  const actions = { text: "", file: "_files", folder: "_files -/" };
  const action = typeof takes === "string" ? actions[takes] : `(${takes.join(" ")})`;
  // The `*` allows the flag to be repeated.
  return `'*${name}=${words}:value:${action}'`;
}

/** Escapes a text for single quotes, in which a colon would begin another part. */
function quoted(text: string): string {
  return text.replaceAll("'", "'\\''").replaceAll(":", "\\:");
}
