import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

const execute = promisify(execFile);

declare module "vitest" {
  interface ProvidedContext {
    /** A copy of the project, which gets the packages in `out`. */
    readonly project: string;
  }
}

/** The number of commits of the copy, which has no repository. */
export const COMMITS = "1234";

/** Not part of a clone. */
const LEFT_OUT = new Set([".git", "node_modules", "dist", "out", "coverage", ".cache"]);

/** Copies the project's files, as a clone has them, so that packages are made while other tests use `dist`. */
export async function copyProject(from: string, folder: string): Promise<void> {
  const isKept = (path: string): boolean =>
    resolve(path, "..") !== resolve(from) || !LEFT_OUT.has(basename(path));
  await cp(from, folder, { recursive: true, filter: isKept });
  await symlink(resolve("node_modules"), join(folder, "node_modules"));
}

interface PackageOptions {
  readonly umask?: string;
  /** Further variables of the environment. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Default: all. */
  readonly architectures?: readonly string[];
}

/** Makes the packages in a copy of the project. */
export async function makePackages(
  project: string,
  { umask = "0022", variables = {}, architectures = [] }: PackageOptions = {},
): Promise<void> {
  const build = { SOURCE_DATE_EPOCH: "1772351612", REVISION: "0123abcd", BRANCH: "main", COMMITS };
  const env = { ...process.env, ...build, ...variables };
  const script = `umask ${umask} && npm run --silent package -- ${architectures.join(" ")}`;
  await execute("sh", ["-c", script], { cwd: project, env });
}

/**
 * Makes the packages once for all tests of this folder, while other tests run: `packagePath` waits for them. Only a release needs those for
 * other machines.
 */
export async function setup({ provide, name }: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-"));
  const project = join(folder, "project");
  const architectures = name === "release" ? [] : [process.arch];
  const made = copyProject(".", project).then(() => makePackages(project, { architectures }));
  provide("project", project);
  return async () => {
    await made;
    await rm(folder, { recursive: true });
  };
}
