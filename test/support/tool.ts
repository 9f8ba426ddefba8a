import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Debian's suites after the machine's own, in order: `scripts/install-test-tools.sh` unpacks programs of them. */
export const SUITES = ["trixie", "forky"] as const;
export type Suite = (typeof SUITES)[number];

/** Has a folder with the programs of each suite. */
const FOLDER = "/var/cache/appliance-exporter-test-tools";

/** A root file system of Debian 12 without Node.js. */
export const ROOT_TAR = join(FOLDER, "bookworm.tar");

/** The suites whose programs are on this machine. */
export const UNPACKED_SUITES = SUITES.filter((suite) => existsSync(join(FOLDER, suite, "bin")));

/** The PATH, on which the programs of a suite come first. */
export function pathOf(suite?: Suite): string {
  const path = process.env["PATH"] ?? "";
  return suite === undefined ? path : `${join(FOLDER, suite, "bin")}${delimiter}${path}`;
}

/** The path of a program that `scripts/install-test-tools.sh` installs, or unpacks. Throws if the program is missing. */
export function toolPath(command: string, suite?: Suite): string {
  const folders = [...pathOf(suite).split(delimiter), "/usr/sbin", "/sbin"];
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
