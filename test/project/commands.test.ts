import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runAfter } from "../program/support.ts";
import { codeBlocks } from "../support/code-blocks.ts";

const PAGES = ["README.md", "SECURITY.md", "CONTRIBUTING.md", ...pagesIn("docs"), ...pagesIn("packaging")];

function pagesIn(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(".md")).map((name) => join(folder, name));
}

const BLOCKS = PAGES.flatMap((page) =>
  codeBlocks(readFileSync(page, "utf8"), "sh").map((block) => ({ page, block })),
);
const LINES = BLOCKS.flatMap(({ page, block }) =>
  block
    .replaceAll("\\\n", " ")
    .split("\n")
    .map((line) => ({ page, line })),
);

test("a shell can read all commands of the documents", () => {
  expect(BLOCKS.length).toBeGreaterThan(45);
  const wrong = BLOCKS.flatMap(({ page, block }) => {
    const { status, stderr } = spawnSync("bash", ["-n"], { input: block, encoding: "utf8" });
    return status === 0 ? [] : [`${page}: ${stderr}`];
  });
  expect(wrong).toEqual([]);
});

test("each of our commands in the documents exists, and each of its flags", async () => {
  const { out: list } = await runAfter("--help");
  // Other words after the name: the unit, the group, the image and the package have it, too.
  const commands = new Set(list.match(/^ {2}[a-z]+/gm)?.map((line) => line.trim()));
  const typed = LINES.flatMap(({ page, line }) =>
    Array.from(
      line.matchAll(/(?<![\w/.-])appliance-exporter ([a-z]+)( [^|;&>#)]*)?/g),
      ([, command, rest]) => ({
        page,
        command: command ?? "",
        rest: rest ?? "",
      }),
    ),
  ).filter(({ command }) => commands.has(command));
  expect(typed.length).toBeGreaterThan(30);
  const wrong: string[] = [];
  for (const { page, command, rest } of typed) {
    const [, action = ""] = rest.split(" ");
    const names = command === "maintenance" && action !== "" ? [command, action] : [command];
    const { out: help } = await runAfter(...names, "--help");
    const unknown = Array.from(rest.matchAll(/(?<= )--[\w.-]+/g), ([flag]) => flag).filter(
      (flag) => !help.includes(flag),
    );
    if (!help.startsWith(`Usage: appliance-exporter ${names.join(" ")} `) || unknown.length > 0)
      wrong.push(`${page}: ${command}${rest} ${unknown.join(" ")}`);
  }
  expect(wrong).toEqual([]);
});

const SHELL = new Set("await cd done echo for set".split(" "));
/** Lines of programs in jq and configuration, and functions of a script. */
const PARTS = new Set("as hand_over reduce select upgrade".split(" "));
/** What types the commands of other programs, with ours; `undefined` if nothing does here. */
const TYPED_BY: Readonly<Record<string, string | undefined>> = {
  apt: "test/packaging/deb.extra.test.ts",
  cat: "test/packaging/systemd.extra.test.ts",
  curl: "test/packaging/systemd.extra.test.ts",
  docker: undefined,
  git: undefined,
  groupadd: "test/packaging/systemd.extra.test.ts",
  install: "test/packaging/systemd.extra.test.ts",
  journalctl: undefined,
  jq: undefined,
  keepalived: "test/packaging/systemd.extra.test.ts",
  kubectl: undefined,
  ln: "test/packaging/tarball.extra.test.ts",
  mkdir: "test/project/getting-started.extra.test.ts",
  npm: "test/packaging/npm.extra.test.ts",
  openssl: "test/project/getting-started.extra.test.ts",
  promtool: "test/monitoring/rules.extra.test.ts",
  runuser: "test/packaging/deb.extra.test.ts",
  sed: undefined,
  ssh: undefined,
  systemctl: "test/packaging/systemd.extra.test.ts",
  "systemd-tmpfiles": "test/packaging/systemd.extra.test.ts",
  tar: "test/packaging/tarball.extra.test.ts",
  timeout: undefined,
  zcat: undefined,
};

test("it is known what types the commands of other programs", () => {
  const found = LINES.flatMap(({ line }) => {
    const [first = ""] = line
      .trim()
      .replace(/^(?:[A-Z_]+=\S* )+/, "")
      .split(/[\s(]/);
    const isProgram = /^[a-z][\w.-]*$/.test(first) && !SHELL.has(first) && !PARTS.has(first);
    return isProgram && first !== "appliance-exporter" ? [first] : [];
  });
  expect([...new Set(found)].toSorted()).toEqual(Object.keys(TYPED_BY));
  const files = Object.values(TYPED_BY).filter((file) => file !== undefined);
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
});
