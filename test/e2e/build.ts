import { execFileSync } from "node:child_process";

/** Before the suite: builds what the lab runs, which is the command as it is installed. */
export function setup(): void {
  execFileSync("npm", ["run", "--silent", "build"], { stdio: "inherit" });
}
