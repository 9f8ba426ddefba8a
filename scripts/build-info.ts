import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";

function git(...args: readonly string[]): string | undefined {
  // An archive without a repository of its own, unpacked in one, is no commit of that.
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: dirname(process.cwd()) };
  try {
    return execFileSync("git", args, { env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return undefined;
  }
}

/** Returns the Unix time of the build in seconds: SOURCE_DATE_EPOCH, or the date of the commit. */
export function sourceDateEpoch(): string | undefined {
  return process.env["SOURCE_DATE_EPOCH"] || git("log", "-1", "--format=%ct");
}

/** Returns the date in UTC, such as `20260301-07:53:32`. */
function dateOf(epoch: string): string {
  const [day = "", time = ""] = new Date(Number(epoch) * 1000).toISOString().split(/[T.]/);
  return `${day.replaceAll("-", "")}-${time}`;
}

/** Returns the version of this build: that of package.json; of a development version, `1.0.0-dev`, each commit has one of its own. */
export function buildVersion(): string {
  const { version }: { readonly version: string } = JSON.parse(readFileSync("package.json", "utf8"));
  return version.endsWith("-dev") ? `${version}.${placeOfCommit()}` : version;
}

/**
 * Returns the number of commits up to this one, which COMMITS replaces. A shallow clone and an archive cannot count: they have the date
 * behind a 0, so that they are in order too, before all that count; an archive without a date has `0`.
 */
function placeOfCommit(): string {
  const isWhole = git("rev-parse", "--is-shallow-repository") === "false";
  const commits = process.env["COMMITS"] || (isWhole ? git("rev-list", "--count", "HEAD") : undefined);
  if (commits !== undefined) return commits;
  const epoch = sourceDateEpoch();
  return epoch === undefined ? "0" : `0.${epoch}`;
}

/** Returns the description of this build for the bundle. REVISION and BRANCH replace git, for a build without the repository. */
export function buildInfo() {
  const epoch = sourceDateEpoch();
  return {
    version: buildVersion(),
    revision: process.env["REVISION"] || git("rev-parse", "HEAD") || "unknown",
    branch: process.env["BRANCH"] || git("rev-parse", "--abbrev-ref", "HEAD") || "unknown",
    date: epoch === undefined ? "unknown" : dateOf(epoch),
  };
}
