import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Cleanup } from "./cleanup.ts";

/** Writes a file and returns its path. */
export type WriteFile = (name: string, text: string) => Promise<string>;

/** Creates a private temporary folder; the cleanup removes it. */
export async function createWorkspace(cleanup: Cleanup): Promise<WriteFile> {
  // mkdtemp creates it with mode 700.
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-demo-"));
  cleanup.add(() => rm(folder, { recursive: true, force: true }));
  return async (name, text) => {
    const path = join(folder, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };
}
