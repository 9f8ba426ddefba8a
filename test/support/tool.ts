import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The path of a program that `scripts/install-test-tools.sh` installs. Throws if the program is missing. */
export function toolPath(command: string): string {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/sbin"];
  const found = folders.map((folder) => join(folder, command)).find(isExecutable);
  if (found === undefined) throw new Error(`${command} is missing: run scripts/install-test-tools.sh`);
  return found;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
