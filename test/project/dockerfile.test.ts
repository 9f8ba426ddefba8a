import { existsSync, readFileSync } from "node:fs";
import { validate } from "dockerfile-utils";
import { describe, expect, it } from "vitest";

const repository = new URL("../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, repository), "utf8");
const dockerfile = read("Dockerfile");
const dockerignore = read(".dockerignore");

/** Whether .dockerignore excludes a path. The last pattern that matches counts. */
function isIgnored(path: string): boolean {
  const patterns = dockerignore.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const last = patterns.findLast((pattern) => {
    const name = pattern.replace(/^!/, "");
    return name === "*" || path === name || path.startsWith(`${name}/`);
  });
  return last !== undefined && !last.startsWith("!");
}

describe("the Dockerfile", () => {
  it("copies files that exist and that .dockerignore does not exclude", () => {
    const copies = dockerfile.match(/^COPY (?!--from=).*$/gm) ?? [];
    const paths = copies.flatMap((copy) => copy.split(" ").slice(1, -1));
    expect(paths.length).toBeGreaterThan(5);
    const missing = paths.filter((path) => isIgnored(path) || !existsSync(new URL(path, repository)));
    expect(missing).toEqual([]);
  });

  it("has no error of the linter", () => {
    expect(validate(dockerfile).map(({ message, range }) => [range.start.line + 1, message])).toEqual([]);
  });
});
