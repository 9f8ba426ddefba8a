import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { buildVersion } from "../../scripts/build-info.ts";

/** Nothing of this machine's settings, and one person and time for all commits. */
const ENV = {
  PATH: process.env["PATH"],
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@example.org",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@example.org",
  GIT_AUTHOR_DATE: "1772351612 +0000",
  GIT_COMMITTER_DATE: "1772351612 +0000",
};

function createFolder(version: string): string {
  const folder = mkdtempSync(join(tmpdir(), "version-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ version }));
  return folder;
}

function git(folder: string, ...args: readonly string[]): void {
  execFileSync("git", args, { cwd: folder, env: ENV, stdio: "ignore" });
}

function commit(folder: string, count: number): void {
  for (let nth = 0; nth < count; nth += 1) git(folder, "commit", "--allow-empty", "--message=one more");
}

/** The version of a build in this folder, which the process is in as long as this takes. */
function versionOf(folder: string, variables = {}): string {
  const [cwd, { env }] = [process.cwd(), process];
  process.chdir(folder);
  process.env = { ...ENV, ...variables };
  try {
    return buildVersion();
  } finally {
    process.env = env;
    process.chdir(cwd);
  }
}

test("a development version counts commits, also in a worktree and a whole clone; a release is what it says", () => {
  const folder = createFolder("1.3.0-dev");
  git(folder, "init", "--quiet");
  git(folder, "add", "--all");
  commit(folder, 9);
  expect(versionOf(folder)).toBe("1.3.0-dev.9");
  commit(folder, 1);
  expect(versionOf(folder)).toBe("1.3.0-dev.10");
  git(folder, "worktree", "add", "--quiet", "tree");
  expect(versionOf(join(folder, "tree"))).toBe("1.3.0-dev.10");
  git(folder, "clone", "--quiet", `file://${folder}`, "clone");
  expect(versionOf(join(folder, "clone"))).toBe("1.3.0-dev.10");
  git(folder, "clone", "--quiet", "--depth=1", `file://${folder}`, "shallow");
  expect(versionOf(join(folder, "shallow"))).toBe("1.3.0-dev.0.1772351612");
  writeFileSync(join(folder, "package.json"), JSON.stringify({ version: "1.3.0" }));
  expect(versionOf(folder)).toBe("1.3.0");
});

test("an archive takes the number or the date that it is given, and is no commit of a repository around it", () => {
  const folder = createFolder("1.3.0-dev");
  expect(versionOf(folder)).toBe("1.3.0-dev.0");
  expect(versionOf(folder, { SOURCE_DATE_EPOCH: "1772351613" })).toBe("1.3.0-dev.0.1772351613");
  expect(versionOf(folder, { COMMITS: "12", SOURCE_DATE_EPOCH: "1772351613" })).toBe("1.3.0-dev.12");
  git(folder, "init", "--quiet");
  git(folder, "add", "--all");
  commit(folder, 1);
  const archive = join(folder, "archive");
  cpSync(join(folder, "package.json"), join(archive, "package.json"));
  expect(versionOf(archive)).toBe("1.3.0-dev.0");
});
