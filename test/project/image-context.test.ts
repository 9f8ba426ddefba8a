import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CONTEXT, copiedByBuild, copiedFrom, isIgnored } from "./image-context.ts";

const read = (path: string): string => readFileSync(`${CONTEXT}${path}`, "utf8");
const dockerfile = read("Dockerfile");

describe("what the Dockerfile copies from the context", () => {
  it.each(copiedFrom(dockerfile))("%s exists, and .dockerignore lets it in", (path) => {
    expect(existsSync(`${CONTEXT}${path}`)).toBe(true);
    expect(isIgnored(path)).toBe(false);
  });

  it("holds everything that the build reads", () => {
    const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
      read("package.json"),
    );
    const named = /** Of the scripts that a build runs. */ `${scripts["build"]} ${scripts["build:page"]}`
      .split(" ")
      .filter((word) => word.startsWith("src/") || word.endsWith(".json"));
    const { extends: base, include }: { readonly extends: string; readonly include: readonly string[] } =
      JSON.parse(read("tsconfig.build.json"));
    // vite reads its configuration by itself, and npm its manifest.
    const needed = [...named, ...include, base.replace("./", ""), "vite.config.ts", "package.json"];
    expect(needed).toContain("tsconfig.build.json");
    const copied = copiedByBuild(dockerfile);
    const missing = needed.filter(
      (path) => !copied.some((each) => path === each || path.startsWith(`${each}/`)),
    );
    expect(missing).toEqual([]);
  });
});

describe("a .dockerignore", () => {
  const only = "*\n!src\n!package.json\nsrc/secret.ts\n";

  it.each([
    ["package.json", false],
    ["src", false],
    ["src/web/main.ts", false],
    ["src/secret.ts", true],
    ["vite.config.ts", true],
  ])("leaves %s out: %s", (path, isOut) => {
    expect(isIgnored(path, only)).toBe(isOut);
  });
});
