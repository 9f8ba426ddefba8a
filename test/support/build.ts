import { execFileSync } from "node:child_process";

/** Builds the program before all tests, for those that run the command or open the page. */
export function setup(): void {
  execFileSync("npm", ["run", "--silent", "build"], { stdio: "inherit" });
}
