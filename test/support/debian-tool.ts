import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const APT = "apt-get";

/** Where a tool is that is no package of ours, or why it is not there. */
export type Tool =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly reason: string };

/** A command, and Debian's package that holds it. */
export interface DebianCommand {
  readonly command: string;
  readonly packageName: string;
  /** The package starts a server of this name, where the command alone is wanted. */
  readonly service?: string;
}

/** Where a command is, of those that were looked for together. */
export type Tools = (command: string) => Tool;

/**
 * Finds commands; where root runs on Debian, installs the packages of those that are missing, all of them at once. `say`
 * hears what is done to the machine.
 */
export function findDebianTools(wanted: readonly DebianCommand[], say: (message: string) => void): Tools {
  const missing = wanted.filter(({ command }) => locate(command) === undefined);
  const problem = missing.length === 0 ? undefined : installPackagesOf(missing, say);
  // A server whose package was there before is somebody's own.
  for (const { command, service } of missing) {
    if (service !== undefined && locate(command) !== undefined) spawnSync("service", [service, "stop"]);
  }
  return (command) => {
    const path = locate(command);
    if (path !== undefined) return { ok: true, path };
    const packageName = wanted.find((one) => one.command === command)?.packageName ?? "none that is known";
    return {
      ok: false,
      reason: `${command} is not there (Debian's package ${packageName}): ${problem ?? "it does not hold it"}`,
    };
  };
}

function locate(command: string): string | undefined {
  const { status, stdout } = spawnSync("sh", ["-c", `command -v ${command}`], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

/** Why not all of them could be installed, or nothing. */
function installPackagesOf(
  missing: readonly DebianCommand[],
  say: (message: string) => void,
): string | undefined {
  if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version"))
    return "only root on Debian installs it";
  const packages = [...new Set(missing.map(({ packageName }) => packageName))];
  say(`installing Debian's packages ${packages.join(", ")}`);
  const updateProblem = aptGet("update", "-q");
  const problem = install(packages);
  if (problem === undefined || packages.length === 1) return problem;
  // One that cannot be had is no reason to go without the others.
  return [updateProblem, ...packages.map((name) => install([name]))].filter(Boolean).join("; ");
}

function install(packages: readonly string[]): string | undefined {
  return aptGet("install", "-y", "--no-install-recommends", ...packages);
}

function aptGet(...args: readonly string[]): string | undefined {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const { status, stderr, error } = spawnSync(APT, args, { env, encoding: "utf8", timeout: 600_000 });
  return status === 0 ? undefined : (error?.message ?? stderr.trim().split("\n").at(-1) ?? `${APT} failed`);
}
