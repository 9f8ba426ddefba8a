import { open, realpath, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { errorCode } from "./errors.ts";

const NEW_FILE_MODE = 0o644;

/**
 * Replaces the content of a file at once: readers see the old or the new one. Keeps its mode and, if permitted, its owner;
 * a new file is readable for everyone. No other call replaces the file from before `makeText` reads it until the end.
 *
 * @throws an error of Node.js or of `makeText`, or one that says that another call is replacing the file
 */
export async function replaceFile(path: string, makeText: () => Promise<string>): Promise<void> {
  // The file itself, not a link to it.
  const target = await unlessMissing(realpath(path), path);
  const temporary = `${target}.new`;
  const handle = await openNew(temporary);
  try {
    const before = await unlessMissing(stat(target), undefined);
    await handle.writeFile(await makeText());
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

async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, "wx");
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    throw new Error(`${path} exists: if no other command is writing, remove it`, { cause: error });
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
