import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

function git(...args: readonly string[]): string | undefined {
  try {
    return execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
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

export function packageVersion(): string {
  const { version }: { readonly version: string } = JSON.parse(readFileSync("package.json", "utf8"));
  return version;
}

/** Returns the description of this build for the bundle. REVISION and BRANCH replace git, for a build without the repository. */
export function buildInfo() {
  const epoch = sourceDateEpoch();
  return {
    version: packageVersion(),
    revision: process.env["REVISION"] || git("rev-parse", "HEAD") || "unknown",
    branch: process.env["BRANCH"] || git("rev-parse", "--abbrev-ref", "HEAD") || "unknown",
    date: epoch === undefined ? "unknown" : dateOf(epoch),
  };
}
