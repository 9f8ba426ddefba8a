import { open, realpath, rename, rm, stat } from "node:fs/promises";
import { errorCode } from "./errors.ts";

const NEW_FILE_MODE = 0o644;

/**
 * Replaces the content of a file at once: readers see the old or the new one. Keeps its mode and, if permitted, its owner;
 * a new file is readable for everyone.
 *
 * @throws an error of Node.js
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  // The file itself, not a link to it.
  const target = await unlessMissing(realpath(path), path);
  const before = await unlessMissing(stat(target), undefined);
  const temporary = `${target}.new`;
  await rm(temporary, { force: true });
  const handle = await open(temporary, "wx");
  try {
    await handle.writeFile(text);
    await handle.chmod(before?.mode ?? NEW_FILE_MODE);
    if (before !== undefined) await handle.chown(before.uid, before.gid).catch(() => {});
    await handle.sync();
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

async function unlessMissing<T, Else>(found: Promise<T>, otherwise: Else): Promise<T | Else> {
  try {
    return await found;
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    return otherwise;
  }
}
