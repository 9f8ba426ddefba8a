import { spawn } from "node:child_process";

// As a test's process: it starts a program, says which, and has more to do.
const { pid } = spawn("sh", ["-c", "sleep 600; :"], { detached: true, stdio: "ignore" });
process.send?.(pid);
setInterval(() => {}, 60_000);
