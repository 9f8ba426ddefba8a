import { execFileSync } from "node:child_process";
import { basename, dirname } from "node:path";

/**
 * Level 2 would make the packages a tenth smaller and take four times as long. With two threads, xz cuts the data into blocks; the result
 * is the same on any number of cores.
 */
export const XZ_LEVEL = 0;

/** Runs a program and returns its output on stdout; stderr is shown. */
export function run(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

/** Sets modes and times of all files in a folder, so that they do not depend on who made the files, when, and with which umask. */
export function normalize(folder: string, epoch: string): void {
  run("chmod", "-R", "u=rwX,go=rX", folder);
  run("find", folder, "-exec", "touch", "--no-dereference", `--date=@${epoch}`, "{}", "+");
}

/** The options take modes and times from the files. */
const REPRODUCIBLE = ["--format=gnu", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"];

/** Writes a normalized folder as a tar file. */
export function writeTar(folder: string, path: string, compressor: string): void {
  const input = [`--directory=${dirname(folder)}`, basename(folder)];
  run("tar", "--create", ...REPRODUCIBLE, `--use-compress-program=${compressor}`, `--file=${path}`, ...input);
}
