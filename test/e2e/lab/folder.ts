import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PREFIX = "appliance-exporter-e2e-";

/** A new folder for the files of one run. Those of runs that were killed are removed; nothing else can be left of them. */
export async function makeFolder(): Promise<string> {
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(PREFIX));
  const abandoned = names.filter((name) => !isRunning(Number(name.slice(PREFIX.length).split("-", 1)[0])));
  await Promise.all(abandoned.map((name) => rm(join(tmpdir(), name), { recursive: true, force: true })));
  return mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
