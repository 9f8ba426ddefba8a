import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

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

test("the Dockerfile copies files that exist and that .dockerignore does not exclude", () => {
  const copies = dockerfile.match(/^COPY (?!--from=).*$/gm) ?? [];
  const paths = copies.flatMap((copy) => copy.split(" ").slice(1, -1));
  expect(paths.length).toBeGreaterThan(5);
  const missing = paths.filter((path) => isIgnored(path) || !existsSync(new URL(path, repository)));
  expect(missing).toEqual([]);
});
