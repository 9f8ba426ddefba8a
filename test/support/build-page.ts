import { execFileSync } from "node:child_process";

/** Before all tests, builds what browsers load. Tests run the rest of the program from its source. */
export function setup(): void {
  execFileSync("npm", ["run", "--silent", "build:page"], { stdio: "inherit" });
}
