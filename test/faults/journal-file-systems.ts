import { execFileSync, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { endChild } from "../support/child.ts";
import { obstacleTo } from "../support/obstacle.ts";
import { toolPath } from "../support/tool.ts";
import type { Scene } from "./journal-scene.ts";
import type { Program, ProgramOptions } from "./program.ts";
import type { Stage } from "./stage.ts";

const FILE_SYSTEM = fileURLToPath(new URL("../support/memory-file-system.ts", import.meta.url));

/** A namespace of mounts, without root also one of users. */
const UNSHARE = ["--mount", ...(process.getuid?.() === 0 ? [] : ["--map-root-user"])];

/** Why this machine cannot mount a file system for a test; empty if it can. */
export const obstacle = obstacleTo("mounting a file system", () => {
  const script = 'mount -t tmpfs none "$1"';
  execFileSync(toolPath("unshare"), [...UNSHARE, "sh", "-ec", script, "sh", tmpdir()]);
});
export const fuseObstacle =
  obstacle || obstacleTo("a file system of a process", () => closeSync(openSync("/dev/fuse", "r+")));

/** Runs a program whose folder `journal` is a file system of its own, which no other program sees. */
export function mounted(mount: string): ProgramOptions {
  const script = `${mount} journal && exec 3>&- && exec "$@"`;
  return { wrapper: [toolPath("unshare"), ...UNSHARE, "sh", "-ec", script, "sh"] };
}

/** The same folder, as the program sees it. */
export function seenBy({ child }: Program, folder: string): string {
  return `/proc/${child.pid}/root${folder}`;
}

/**
 * Starts a program with its journal on a file system that hangs between SIGSTOP and SIGCONT, at first if `hangs`. A program that waits for
 * an answer may be ended by the end of the file system alone, so that ends first.
 */
export async function startOnMemory(stage: Stage, { journal, start }: Scene, hangs = false) {
  await mkdir(journal);
  const device = openSync("/dev/fuse", "r+");
  const files = spawn(process.execPath, ["--import", import.meta.resolve("tsx"), FILE_SYSTEM], {
    stdio: ["ignore", "inherit", "inherit", device],
  });
  if (hangs) files.kill("SIGSTOP");
  const options = "fd=3,rootmode=40700,user_id=0,group_id=0";
  try {
    const program = await start({
      ...mounted(`mount -i -t fuse -o ${options} memory`),
      descriptor: device,
    });
    return { program, files, seen: seenBy(program, journal) };
  } finally {
    closeSync(device);
    stage.cleanUp(() => endChild(files));
  }
}
