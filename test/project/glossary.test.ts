import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "rolldown/utils";
import { expect, test } from "vitest";
import { ALL_ALERTS } from "../monitoring/alert-rules.ts";

/** What others call theirs: modules and versions of Node.js, switches, labels of Prometheus and of a metric, reports to this project. */
const NAMES =
  /"node:|Node\.js|node version|switch \(|(?:network|dead man's) switch|container node|netmask peer|open an issue/gi;

const GLOSSARY = readFileSync("docs/reference/glossary.md", "utf8");

const ROWS = GLOSSARY.split(/^\|[-|]+\|\n/m)[1] ?? "";

/** The words of the glossary, each with those that it replaces. */
const WORDS = new Map(
  Array.from(ROWS.matchAll(/^\| (\w+) \| .+ \| ([A-Za-z ,]+) \|$/gm), ([, word = "", not = ""]) => [
    word,
    not.split(", "),
  ]),
);

/** Finds each of these words, in the plural too, unless it is part of a longer name. */
function patternOf(words: readonly string[]): RegExp {
  const forms = words.map((word) => word.replace(/y$/, "(?:y|ies)").replaceAll(" ", String.raw`\s+`));
  return new RegExp(String.raw`(?<![\w.-])(?:${forms.join("|")})(?:e?s)?(?![\w-])`, "gi");
}

const REPLACED = patternOf([...WORDS.values()].flat());

/** The words in this text that the glossary replaces, each with some text around it. */
function replacedIn(text: string): readonly string[] {
  return Array.from(text.replaceAll(NAMES, "").matchAll(REPLACED), ({ 0: word, index, input }) => {
    const around = input.slice(Math.max(0, index - 40), index + 40).replaceAll(/\s+/g, " ");
    return `${word.toLowerCase()} in: ${around}`;
  });
}

/** A page without code and the targets of links, and without the last column of the glossary. */
function proseOf(page: string): string {
  return page
    .replace(ROWS, ROWS.replaceAll(/ \| [A-Za-z ,]+ \|$/gm, " |"))
    .replaceAll(/^( *)```.*?^\1```$/gms, "")
    .replaceAll(/`[^`]*`/g, "")
    .replaceAll(/\]\([^)]*\)/g, "]");
}

/** The part of the changelog that may change. */
function unreleasedOf(changelog: string): string {
  return changelog.split(/^## /m)[1] ?? "";
}

const COMMENT_LINE = /^ *(?:\/\*\*|\*|\/\/) .*$/gm;

/** The strings of a module that people may read: of several words, or one that begins like a title. */
function messagesOf(module: string): readonly string[] {
  // Parsing all modules takes a second, and few have such a word outside of comments.
  if (replacedIn(module.replaceAll(COMMENT_LINE, "")).length === 0) return [];
  const texts: string[] = [];
  new Visitor({
    Literal: ({ value }) => {
      if (typeof value === "string") texts.push(value);
    },
    TemplateLiteral: ({ quasis }) => {
      texts.push(quasis.map(({ value }) => value.cooked ?? "").join("…"));
    },
  }).visit(parseSync("module.ts", module).program);
  return texts.filter((text) => /\s|^[A-Z][a-z]/.test(text));
}

/** The files below this folder whose names end so. */
function filesIn(folder: string, end: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(end))
    .map((name) => join(folder, name));
}

const read = (path: string) => readFileSync(path, "utf8");

test("what the glossary replaces is found in prose and messages, in the plural too, and not in names and code", () => {
  expect(replacedIn("One party,\ntwo parties.")).toEqual([
    "party in: One party, two parties.",
    "parties in: One party, two parties.",
  ]);
  expect(replacedIn("third-party, party_name, exporter.party")).toEqual([]);
  expect(replacedIn(proseOf("`party`, [name](party.md)\n```\nparty\n```\n"))).toEqual([]);
  const module = 'const party = "party"; // a party\nlog(`the party of ${x}`, "a party", "Party");\n';
  expect(messagesOf(module)).toEqual(["the party of …", "a party", "Party"]);
});

test("each word of the glossary is one word, and replaces others", () => {
  expect(WORDS.size).toBe(ROWS.trimEnd().split("\n").length);
  const replaced = [...WORDS.values()].flat();
  expect(new Set([...WORDS.keys(), ...replaced]).size).toBe(WORDS.size + replaced.length);
});

test.each([
  "README.md",
  "config.example.yaml",
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...filesIn("docs", ".md"),
  ...filesIn("packaging", ".md"),
])("%s has the words of the glossary", (page) => {
  expect(replacedIn(proseOf(read(page)))).toEqual([]);
});

test("the changelog of the next release has them", () => {
  expect(replacedIn(proseOf(unreleasedOf(read("CHANGELOG.md"))))).toEqual([]);
});

test.each(["src", "monitoring"])("the messages of %s have them", (folder) => {
  const modules = filesIn(folder, ".ts").map((path) => [path, messagesOf(read(path)).flatMap(replacedIn)]);
  expect(modules.filter(([, found]) => found?.length !== 0)).toEqual([]);
});

test("the texts of alerts have them", () => {
  const texts = ALL_ALERTS.flatMap(({ annotations: { summary = "", description = "" } }) => [
    summary,
    description,
  ]);
  expect(texts.length).toBeGreaterThan(40);
  expect(texts.flatMap((text) => replacedIn(text.replaceAll(/\{\{.*?\}\}/gs, "…")))).toEqual([]);
});
