import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** The names of the types that a text defines. */
function typesIn(text: string): readonly string[] {
  return Array.from(text.matchAll(/^(?:export )?(?:interface|type|class) (\w+)/gm), ([, name = ""]) => name);
}

/** Each name that several of these texts define, with the paths of all of them. */
function doublesIn(texts: ReadonlyMap<string, string>): readonly string[] {
  const paths = new Map<string, string[]>();
  for (const [path, text] of texts)
    for (const name of typesIn(text)) paths.set(name, [...(paths.get(name) ?? []), path]);
  return [...paths].flatMap(([name, all]) => (all.length > 1 ? `${name}: ${all.join(", ")}` : []));
}

test("a type name that two files define is found", () => {
  const texts = new Map([
    ["a.ts", "export interface Step<State> {\n}\nconst type = 1;\n"],
    ["b.ts", "class Turn {}\n  type Step = 1;\n"],
    ["c.ts", "type Step = 1;\n"],
  ]);
  expect(doublesIn(texts)).toEqual(["Step: a.ts, c.ts"]);
});

test("each type name has one meaning", () => {
  const paths = readdirSync("src", { recursive: true, encoding: "utf8" });
  const modules = paths.filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"));
  const texts = new Map(modules.map((path) => [path, readFileSync(`src/${path}`, "utf8")]));
  expect([...texts.values()].flatMap(typesIn).length).toBeGreaterThan(300);
  expect(doublesIn(texts)).toEqual([]);
});
