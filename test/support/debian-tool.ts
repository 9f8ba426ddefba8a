import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const APT = "apt-get";

/** Where a tool is that is no package of ours, or why it is not there. */
export type Tool =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly reason: string };

/**
 * Finds a command; where root runs on Debian, installs the package that holds it. `say` hears what is done to the machine.
 */
export function findDebianTool(command: string, packageName: string, say: (message: string) => void): Tool {
  const path = locate(command);
  if (path !== undefined) return { ok: true, path };
  if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version")) {
    return {
      ok: false,
      reason: `${command} is not installed (Debian's package ${packageName}), and only root can install it`,
    };
  }
  say(`installing Debian's package ${packageName} for ${command}`);
  const install = ["install", "-y", "--no-install-recommends", packageName];
  const problem = aptGet("update", "-q") ?? aptGet(...install);
  const installed = locate(command);
  return installed === undefined
    ? { ok: false, reason: `${command} could not be installed: ${problem ?? "the package does not hold it"}` }
    : { ok: true, path: installed };
}

/** The same for a package that starts a server of its own, where the command alone is wanted. */
export function findWithoutService(command: string, service: string, say: (message: string) => void): Tool {
  const wasThere = locate(command) !== undefined;
  const tool = findDebianTool(command, service, say);
  // A server whose package was there before is somebody's own.
  if (tool.ok && !wasThere) spawnSync("service", [service, "stop"]);
  return tool;
}

function locate(command: string): string | undefined {
  const { status, stdout } = spawnSync("sh", ["-c", `command -v ${command}`], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

function aptGet(...args: readonly string[]): string | undefined {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const { status, stderr, error } = spawnSync(APT, args, { env, encoding: "utf8", timeout: 240_000 });
  return status === 0 ? undefined : (error?.message ?? stderr.trim().split("\n").at(-1) ?? `${APT} failed`);
}
