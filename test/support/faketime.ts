import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { Tool } from "./debian-tool.ts";

const LIBRARY = "libfaketimeMT.so.1";
const OTHER_PLACES = ["/usr/lib/faketime", "/usr/lib64/faketime", "/usr/local/lib/faketime"];

/**
 * The library that sets a clock under a program with threads. It is preloaded without its wrapper, which fails where an
 * earlier process with the same id left its semaphore.
 */
export function findFaketimeLibrary(wrapper: Tool): Tool {
  if (!wrapper.ok) return wrapper;
  const places = [...placesOfPackage(), ...OTHER_PLACES.map((folder) => `${folder}/${LIBRARY}`)];
  const path = places.find((place) => existsSync(place));
  return path === undefined
    ? { ok: false, reason: `${LIBRARY} is in no known place, although ${wrapper.path} is there` }
    : { ok: true, path };
}

/** Takes away what the library leaves behind of a process that is killed. */
export async function removeTracesOfFaketime(pid: number | undefined): Promise<void> {
  await rm(`/dev/shm/sem.faketime_sem_${pid}`, { force: true });
  await rm(`/dev/shm/faketime_shm_${pid}`, { force: true });
}

function placesOfPackage(): readonly string[] {
  const { status, stdout } = spawnSync("dpkg", ["-L", "libfaketime"], { encoding: "utf8" });
  return status === 0 ? stdout.split("\n").filter((line) => line.endsWith(`/${LIBRARY}`)) : [];
}
