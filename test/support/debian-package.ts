import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

/** Where a command of a Debian package is, or why it is not. */
export type DebianCommand =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly reason: string };

/** Finds the command that is named like its package; where root runs on Debian, installs it. `say` hears of that. */
export function findDebianCommand(name: string, say: (message: string) => void): DebianCommand {
  const path = locate(name);
  if (path !== undefined) return { ok: true, path };
  if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version")) {
    return { ok: false, reason: `Debian's package ${name} is not installed, and only root can install it` };
  }
  say(`installing Debian's package ${name}`);
  run("apt-get", ["update", "-q"]);
  run("apt-get", ["install", "-y", "--no-install-recommends", name]);
  // The package starts a server; the command alone was wanted.
  run("service", [name, "stop"]);
  const installed = locate(name);
  return installed === undefined
    ? { ok: false, reason: `Debian's package ${name} could not be installed` }
    : { ok: true, path: installed };
}

function locate(name: string): string | undefined {
  const { status, stdout } = spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

function run(command: string, args: readonly string[]): void {
  spawnSync(command, args, { env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" }, timeout: 240_000 });
}
