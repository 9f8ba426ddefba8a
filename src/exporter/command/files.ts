import { randomUUID } from "node:crypto";
import { open, readlink, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

const NEW_FILE_MODE = 0o644;

/** Returns where the links of a path lead, even if no file is there. */
async function targetOf(path: string): Promise<string> {
  const link = await readlink(path).catch(() => undefined);
  return link === undefined ? path : targetOf(resolve(await realpath(dirname(path)), link));
}

/**
 * Replaces a file so that readers see the old text or the new one. A file keeps its mode and, if permitted, its owner; a link stays a link.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const target = await targetOf(path);
  const before = await stat(target).catch(() => undefined);
  const temporary = `${target}.${randomUUID()}`;
  // The flag wx creates a new file: a link of this name, from whoever may write to the folder, must not redirect the text.
  const file = await open(temporary, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
    if (before !== undefined) await file.chown(before.uid, before.gid).catch(() => {});
    await file.chmod(before?.mode ?? NEW_FILE_MODE);
    await rename(temporary, target);
  } finally {
    await file.close();
    await rm(temporary, { force: true });
  }
}
