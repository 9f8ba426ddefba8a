import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Cleanup } from "./cleanup.ts";

/** Writes a file into a folder and tells its path. */
export type WriteFile = (name: string, text: string) => Promise<string>;

/** A new temporary folder that nobody else can read; the cleanup removes it with all that is in it. */
export async function createWorkspace(cleanup: Cleanup): Promise<WriteFile> {
  // Of mode 700 by itself.
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-demo-"));
  cleanup.add(() => rm(folder, { recursive: true, force: true }));
  return async (name, text) => {
    const path = join(folder, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };
}
