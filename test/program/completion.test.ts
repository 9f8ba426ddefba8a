import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { createFolder } from "../exporter/config/folder.ts";
import { runAfter } from "./support.ts";

const written = (shell: string) => runAfter("completion", shell);

/** Prints what bash offers for a line whose last word is being typed, sorted. */
const TRY = `
source "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
compopt() { :; }
_appliance_exporter
((\${#COMPREPLY[@]} == 0)) || printf '%s\\n' "\${COMPREPLY[@]}" | sort
`;

let bash: Promise<string> | undefined;

/** What bash offers; it splits words at `=`. */
async function offered(line: string): Promise<readonly string[]> {
  const folder = await createFolder({
    "script.sh": await (bash ??= written("bash").then(({ out }) => out)),
    "config.yaml": "",
    "my config.yaml": "",
    "data/of-journal": "",
  });
  const words = line.split(/ |(?==)|(?<==)/);
  const args = ["--noprofile", "--norc", "-c", TRY, "bash", "./script.sh", ...words];
  return execFileSync("bash", args, { cwd: folder, encoding: "utf8" }).split("\n").slice(0, -1);
}

test.each([
  ["st", ["status"]],
  ["re", ["ready", "report"]],
  ["maintenance e", ["end", "extend"]],
  ["maintenance start --co", ["--comment="]],
  ["status --o", ["--output="]],
  ["status waf-1 --f", ["--failed"]],
  ["status --output=", ["json", "nagios", "table"]],
  ["status --output=na", ["nagios"]],
  ["report --output=", ["csv", "html", "json"]],
  ["check --config.file=con", ["config.yaml"]],
  ["check --config.file=my", ["my config.yaml"]],
  ["run --storage.path=", ["data"]],
  ["status --url=", []],
  ["--log.l", ["--log.level="]],
  ["--log.level=w", ["warn"]],
  ["check --storage", []],
])("in bash, appliance-exporter %s<TAB> offers %j", async (line, words) => {
  expect(await offered(`appliance-exporter ${line}`)).toEqual(words);
});

test("both shells know each command with its flags", async () => {
  const zsh = (await written("zsh")).out;
  const lines = [...zsh.matchAll(/^ +'([\w ]+)'\) _arguments (.*)$/gm)];
  expect(lines.map(([, name]) => name)).toEqual(expect.arrayContaining(["status", "maintenance start"]));
  for (const [, name = "", known = ""] of lines) {
    const help = (await runAfter(...name.split(" "), "--help")).out;
    const wanted = [...help.matchAll(/^ {2}(?:-\w, )?(--[\w.-]+)/gm)].map(([, flag = ""]) => flag).toSorted();
    const offers = await offered(`appliance-exporter ${name} --`);
    expect(offers.map((flag) => flag.replace("=", "")).toSorted()).toEqual(wanted);
    expect([...known.matchAll(/'\*?(--[\w.-]+)/g)].map(([, flag = ""]) => flag).toSorted()).toEqual(wanted);
  }
});

test("zsh takes the words before the last one by one, and not as one text", async () => {
  expect((await written("zsh")).out).toContain('for word in "${(@)words[2,CURRENT-1]}"; do');
});

test("another shell is an error", async () => {
  expect(await written("fish")).toEqual({ code: 2, out: "", err: "error: expected bash or zsh\n" });
});
