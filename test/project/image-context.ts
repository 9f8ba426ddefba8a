import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const CONTEXT = fileURLToPath(new URL("../..", import.meta.url));

/** Paths of the context that the first stage of the Dockerfile copies, the one that builds. */
export function copiedByBuild(dockerfile: string): readonly string[] {
  return copiedFrom(dockerfile.split(/^FROM /m)[1] ?? "");
}

/** Paths that all its stages copy from the context, not from one another. */
export function copiedFrom(dockerfile: string): readonly string[] {
  const copies = dockerfile.match(/^COPY (?!--from=).*$/gm) ?? [];
  return copies.flatMap((copy) => copy.split(" ").slice(1, -1));
}

/**
 * Whether a file of the context is left out of it. Knows the patterns that our .dockerignore has: `*`, and names, with `!`
 * in front or without. A name stands for a folder and all that is in it; the last pattern that matches counts.
 */
export function isIgnored(path: string, dockerignore = readDockerignore()): boolean {
  const patterns = dockerignore.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const last = patterns.findLast((pattern) => {
    const name = pattern.replace(/^!/, "");
    return name === "*" || path === name || path.startsWith(`${name}/`);
  });
  return last !== undefined && !last.startsWith("!");
}

function readDockerignore(): string {
  return readFileSync(`${CONTEXT}.dockerignore`, "utf8");
}
