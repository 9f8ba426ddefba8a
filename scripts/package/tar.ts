import { basename, dirname } from "node:path";
import { run } from "./commands.ts";

/** Writes a folder whose files are normalized as a tar file that depends on nothing else. */
export function writeTar(folder: string, path: string, compressor: string): void {
  const owner = ["--owner=0", "--group=0", "--numeric-owner"];
  const output = [`--use-compress-program=${compressor}`, `--file=${path}`];
  run(
    "tar",
    "--create",
    "--format=gnu",
    "--sort=name",
    ...owner,
    ...output,
    `--directory=${dirname(folder)}`,
    basename(folder),
  );
}
