import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

/** Where Prometheus's checker is, or why it is not. */
export type Promtool =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly reason: string };

/** Finds promtool; where root runs on Debian, installs the package that holds it. `say` hears what is done to the machine. */
export function findPromtool(say: (message: string) => void): Promtool {
  const path = locate();
  if (path !== undefined) return { ok: true, path };
  if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version")) {
    return {
      ok: false,
      reason: "promtool is not installed (Debian's package prometheus), and only root can install it",
    };
  }
  say("installing Debian's package prometheus for promtool");
  const problem = install();
  const installed = locate();
  return installed === undefined
    ? { ok: false, reason: `promtool could not be installed: ${problem ?? "the package does not hold it"}` }
    : { ok: true, path: installed };
}

/** The output of `promtool check metrics`, both streams, and how it ended. */
export function checkMetrics(
  path: string,
  text: string,
): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(path, ["check", "metrics"], { input: text, encoding: "utf8" });
  return { status, output: stdout + stderr };
}

function locate(): string | undefined {
  const { status, stdout } = spawnSync("sh", ["-c", "command -v promtool"], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

function install(): string | undefined {
  const wasRunning = isRunning();
  const problem =
    run("apt-get", ["update", "-q"]) ??
    run("apt-get", ["install", "-y", "--no-install-recommends", "prometheus"]);
  // The package starts a server; it is the checker alone that was wanted.
  if (!wasRunning) run("service", ["prometheus", "stop"]);
  return problem;
}

function isRunning(): boolean {
  return spawnSync("service", ["prometheus", "status"]).status === 0;
}

function run(command: string, args: readonly string[]): string | undefined {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const { status, stderr, error } = spawnSync(command, args, { env, encoding: "utf8", timeout: 240_000 });
  return status === 0
    ? undefined
    : (error?.message ?? stderr.trim().split("\n").at(-1) ?? `${command} failed`);
}
