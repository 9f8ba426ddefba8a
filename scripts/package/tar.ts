import { basename, dirname } from "node:path";
import { run } from "./commands.ts";

/** Modes and times are those of the files. */
const REPRODUCIBLE = ["--format=gnu", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"];

/** Writes a normalized folder as a tar file. */
export function writeTar(folder: string, path: string, compressor: string): void {
  const input = [`--directory=${dirname(folder)}`, basename(folder)];
  run("tar", "--create", ...REPRODUCIBLE, `--use-compress-program=${compressor}`, `--file=${path}`, ...input);
}
